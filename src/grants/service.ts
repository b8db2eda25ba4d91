// Granting an access level without transaction data (interface 4.3, decisions 5), and ending such a grant. Revenue and charts
// are untouched.
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { apiError, valueError } from '../errors.ts';
import { fromDatabase, parseDatetime } from '../lib/datetime.ts';
import { sourceOfGrant } from '../profile/access.ts';
import { accessEvent } from '../profile/access-event.ts';
import { type Changed, type ChangeRequest, changeProfile } from '../profile/change.ts';
import { readProfileState } from '../profile/queries.ts';
import type { GrantState } from '../profile/state.ts';
import { endGrant, findLevel, upsertGrant } from './queries.ts';
import type { GrantBody, RevokeBody } from './schema.ts';

function timestampOrNull(text: string | null | undefined): string | null {
  return (text && parseDatetime(text)) || null;
}

interface Level {
  app_id: string;
  profile_id: string;
  access_level_id: string;
}

/** The profile with its event: it describes the grant as it was written, not the source that serves the level best. */
async function describeGrant(
  trx: Kysely<DB>,
  { app_id, profile_id, access_level_id }: Level,
  happenedAt: (grant: GrantState) => string,
): Promise<Changed> {
  const state = await readProfileState(trx, app_id, profile_id);
  const grant = state.grants.find((one) => one.access_level_id === access_level_id);
  if (!grant) throw new Error('a grant that was just written is not there');
  const now = fromDatabase(state.read_at);
  const event = accessEvent({
    event_id: randomUUID(),
    at: happenedAt(grant),
    now,
    state,
    source: sourceOfGrant(grant),
  });
  return { state, events: [event] };
}

/** Grants the level; the body of the answer. */
export function grantAccessLevel(
  deps: Pick<Deps, 'db' | 'now'>,
  { body, ...request }: ChangeRequest & { body: GrantBody },
): Promise<string> {
  const { access_level_id } = body;
  return changeProfile(deps, request, {
    operation: 'grant',
    async work(trx, profile_id) {
      const level = { app_id: request.app.app_id, profile_id, access_level_id };
      const isGranted = await upsertGrant(trx, {
        ...level,
        starts_at: timestampOrNull(body.starts_at),
        expires_at: timestampOrNull(body.expires_at),
      });
      if (!isGranted) throw apiError('access_level_not_found', access_level_id);
      return describeGrant(trx, level, ({ granted_at }) => granted_at);
    },
  });
}

/** When the grant is to end; a timestamp. Throws where it cannot end then. */
function endOf(revokeAt: string | null, { now, expires_at }: { now: string; expires_at: string | null }): string {
  const present = fromDatabase(now);
  const end = revokeAt ?? present;
  if (end < present) throw valueError('revoke_at', 'Must not be in the past.');
  if (expires_at !== null && end > fromDatabase(expires_at)) throw apiError('revocation_after_end');
  return end;
}

/** Ends the grant of the level, now or later; what a purchase gives stays. The body of the answer. */
export function revokeAccessLevel(
  deps: Pick<Deps, 'db' | 'now'>,
  { body, ...request }: ChangeRequest & { body: RevokeBody },
): Promise<string> {
  const { access_level_id } = body;
  return changeProfile(deps, request, {
    operation: 'revoke',
    async work(trx, profile_id) {
      const level = { app_id: request.app.app_id, profile_id, access_level_id };
      const found = await findLevel(trx, level);
      if (!found) throw apiError('access_level_not_found', access_level_id);
      if (!found.is_granted) throw apiError('grant_not_found', access_level_id);
      await endGrant(trx, level, endOf(timestampOrNull(body.revoke_at), found));
      return describeGrant(trx, level, () => found.now);
    },
  });
}
