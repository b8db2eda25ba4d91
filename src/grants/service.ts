// Granting an access level without transaction data (interface 4.3, decisions 5). Revenue and charts are untouched.
import { randomUUID } from 'node:crypto';
import { inTransaction } from '../db/client.ts';
import type { App, Deps } from '../deps.ts';
import { apiError } from '../errors.ts';
import { fromDatabase, parseDatetime } from '../lib/datetime.ts';
import { isActive, listAccess } from '../profile/access.ts';
import type { ProfileIdentity } from '../profile/identity.ts';
import { revenueOf, toUsd } from '../profile/object.ts';
import { lockProfile, readProfileState } from '../profile/queries.ts';
import type { GrantState, ProfileState } from '../profile/state.ts';
import { accessLevelUpdated, type WebhookEvent } from '../webhooks/events.ts';
import { nudgeDispatchers } from '../webhooks/nudge.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { upsertGrant } from './queries.ts';
import type { GrantBody } from './schema.ts';

function timestampOrNull(text: string | null | undefined): string | null {
  return (text && parseDatetime(text)) || null;
}

/** The event of a grant: it describes the grant that was made, not the source that serves the level best. */
function eventOf(state: ProfileState, grant: GrantState): WebhookEvent {
  const now = fromDatabase(state.read_at);
  const from = grant.starts_at && fromDatabase(grant.starts_at);
  const until = grant.expires_at && fromDatabase(grant.expires_at);
  return accessLevelUpdated(
    {
      access_level_id: grant.access_level_id,
      is_active: (from === null || from <= now) && (until === null || now < until),
      is_refund: false,
      is_in_grace_period: false,
      will_renew: false,
      activated_at: grant.first_granted_at,
      renewed_at: grant.granted_at,
      starts_at: grant.starts_at,
      expires_at: grant.expires_at,
      store: 'service',
      vendor_product_id: 'server_side_grant',
      transaction_id: grant.grant_id,
      original_transaction_id: grant.grant_id,
      environment: 'Production',
      cancellation_reason: null,
      profile_has_access_level: listAccess(state, now).some((source) => isActive(source, now)),
      profile_total_revenue_usd: toUsd(revenueOf(state, now)),
    },
    { event_id: randomUUID(), at: grant.granted_at, profile: state },
  );
}

/** Grants the level, stores its event in the same transaction, and gives the profile as it is then. */
export async function grantAccessLevel(
  { db }: Pick<Deps, 'db'>,
  { app, identity, grant }: { app: App; identity: ProfileIdentity; grant: GrantBody },
): Promise<ProfileState> {
  const { state, events } = await inTransaction(db, async (trx) => {
    const profileId = await lockProfile(trx, app.app_id, identity);
    if (profileId === undefined) throw apiError('profile_not_found');
    const isGranted = await upsertGrant(trx, {
      app_id: app.app_id,
      profile_id: profileId,
      access_level_id: grant.access_level_id,
      starts_at: timestampOrNull(grant.starts_at),
      expires_at: timestampOrNull(grant.expires_at),
    });
    if (!isGranted) throw apiError('access_level_not_found', grant.access_level_id);
    const state = await readProfileState(trx, app.app_id, profileId);
    const made = state.grants.find(({ access_level_id }) => access_level_id === grant.access_level_id);
    if (!made) throw new Error('a grant that was just stored is not there');
    return { state, events: await recordEvents(trx, app, [eventOf(state, made)]) };
  });
  if (events > 0) nudgeDispatchers(db);
  return state;
}
