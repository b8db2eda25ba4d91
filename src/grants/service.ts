// Granting an access level without transaction data (interface 4.3, decisions 5).
import { randomUUID } from 'node:crypto';
import { inTransaction } from '../db/client.ts';
import type { App, Deps } from '../deps.ts';
import { apiError } from '../errors.ts';
import { parseDatetime } from '../lib/datetime.ts';
import type { ProfileIdentity } from '../profile/identity.ts';
import { lockProfile, readProfileState } from '../profile/queries.ts';
import type { ProfileState } from '../profile/state.ts';
import { nudgeDispatchers } from '../webhooks/nudge.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { grantEvent } from './event.ts';
import { upsertGrant } from './queries.ts';
import type { GrantBody } from './schema.ts';

function timestampOrNull(text: string | null | undefined): string | null {
  return (text && parseDatetime(text)) || null;
}

/** Grants the level, tells the webhooks, and gives the profile as it is then. */
export async function grantAccessLevel(
  { db }: Pick<Deps, 'db'>,
  { app, identity, grant }: { app: App; identity: ProfileIdentity; grant: GrantBody },
): Promise<ProfileState> {
  const { state, stored } = await inTransaction(db, async (trx) => {
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
    const made = state.grants.filter(({ access_level_id }) => access_level_id === grant.access_level_id);
    const stored = await recordEvents(
      trx,
      app,
      made.map((one) => grantEvent(state, one, randomUUID())),
    );
    return { state, stored };
  });
  if (stored > 0) nudgeDispatchers(db);
  return state;
}
