// Grants an access level without transaction data (interface 4.3, decisions.md 5), and ends such a grant. Revenue and
// charts are not affected.
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { accessEvent } from '../changes/access-event.ts';
import { type Changed, type ChangeRequest, changeProfile } from '../changes/change.ts';
import { changeProfiles, type Locked } from '../changes/group-change.ts';
import { groupCalls } from '../db/group.ts';
import { overlapping } from '../db/overlap.ts';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { apiError, valueError } from '../errors.ts';
import { fromDatabase, parseOptional } from '../lib/datetime.ts';
import { sourceOfGrant } from '../profile/access.ts';
import { readShownState, readShownStates } from '../profile/read-state.ts';
import type { ProfileState } from '../profile/state.ts';
import { endGrant, findLevelAndGrant, upsertGrants } from './queries.ts';
import type { GrantBody, RevokeBody } from './schema.ts';

/**
 * Returns the profile with its event, which describes the grant as written, not the source that serves the level best.
 * `at` is when that happened: when the grant was made, unless it is given.
 */
function describeGrant(state: ProfileState, accessLevelId: string, at?: string): Changed {
  const grant = state.grants.find((one) => one.access_level_id === accessLevelId);
  if (!grant) throw new Error('a grant that was just written is not there');
  const now = fromDatabase(state.read_at);
  const event = accessEvent({
    event_id: randomUUID(),
    at: at ?? grant.granted_at,
    now,
    state,
    source: sourceOfGrant(grant),
  });
  return { state, events: [event] };
}

type GrantRequest = ChangeRequest & { body: GrantBody };

/** Grants to locked profiles; undefined if the app has no such level. */
async function writeGrants(trx: Kysely<DB>, locked: readonly Locked<GrantRequest>[]): Promise<(Changed | undefined)[]> {
  const grants = locked.map(({ profile_id, request: { app, body } }) => ({
    app_id: app.app_id,
    profile_id,
    access_level_id: body.access_level_id,
    starts_at: parseOptional(body.starts_at),
    expires_at: parseOptional(body.expires_at),
  }));
  const [isStored, states] = await overlapping(trx, (each) => [
    upsertGrants(each, grants),
    readShownStates(each, grants),
  ]);
  return grants.map(({ access_level_id }, index) =>
    isStored[index] ? describeGrant(states[index] as ProfileState, access_level_id) : undefined,
  );
}

function grantAlone(deps: Pick<Deps, 'db' | 'now'>, request: GrantRequest): Promise<string> {
  return changeProfile(deps, request, {
    operation: 'grant',
    async work(trx, profile_id) {
      const [changed] = await writeGrants(trx, [{ request, profile_id }]);
      if (!changed) throw apiError('access_level_not_found', request.body.access_level_id);
      return changed;
    },
  });
}

/**
 * With its five round trips, a group of grants takes longer than one of posts. Two concurrent groups are faster, as
 * long as that does not make them smaller.
 */
const GROUPS = { slowMs: 40, secondGroupFrom: 14 };

/** Makes `grantAccessLevel(request)`, which returns the body of the answer once the grant is committed. */
export function createGrantor(deps: Pick<Deps, 'db' | 'now'>): (request: GrantRequest) => Promise<string> {
  const write = (requests: readonly GrantRequest[]) => changeProfiles(deps, requests, writeGrants);
  const enqueue = groupCalls(write, GROUPS);
  return async (request) => {
    // With an Idempotency-Key, the answer is stored in the transaction of the grant, which then has one to itself.
    const answer = request.idempotency ? undefined : await enqueue(request.app.app_id, request);
    return answer ?? grantAlone(deps, request);
  };
}

/** Returns when the grant is to end, as a timestamp. Throws if it cannot end then. */
function endOf(revokeAt: string | null, { now, expires_at }: { now: string; expires_at: string | null }): string {
  const present = fromDatabase(now);
  const end = revokeAt ?? present;
  if (end < present) throw valueError('revoke_at', 'Must not be in the past.');
  if (expires_at !== null && end > fromDatabase(expires_at)) throw apiError('revocation_after_end');
  return end;
}

/** Ends the grant of the level, now or later; what a purchase gives stays. Returns the body of the answer. */
export function revokeAccessLevel(
  deps: Pick<Deps, 'db' | 'now'>,
  { body, ...request }: ChangeRequest & { body: RevokeBody },
): Promise<string> {
  const { access_level_id } = body;
  return changeProfile(deps, request, {
    operation: 'revoke',
    async work(trx, profile_id) {
      const key = { app_id: request.app.app_id, profile_id, access_level_id };
      const found = await findLevelAndGrant(trx, key);
      if (!found) throw apiError('access_level_not_found', access_level_id);
      if (!found.is_granted) throw apiError('grant_not_found', access_level_id);
      await endGrant(trx, key, endOf(parseOptional(body.revoke_at), found));
      return describeGrant(await readShownState(trx, key), access_level_id, found.now);
    },
  });
}
