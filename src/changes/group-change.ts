// Like change.ts, but for many requests in one transaction, so that they share the cost of a commit and its round trips
// (docs/decisions/0002). Only the plain case is handled. A request whose profile is not found, is locked by another
// transaction, or is named by an earlier request of the group falls back to a transaction of its own, which waits for
// locks and handles every error.
import type { Kysely } from 'kysely';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { isUuid } from '../lib/uuid.ts';
import { lockFreeProfiles } from '../profile/queries.ts';
import { nudgeDispatchers } from '../webhooks/nudge.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { type Changed, type ChangeRequest, renderResponse } from './change.ts';

type Named = Pick<ChangeRequest, 'app' | 'identity'>;

/** A request whose profile is locked. */
export interface Locked<Request> {
  request: Request;
  profile_id: string;
}

/**
 * Changes locked profiles, each once. Returns undefined for a request that must fall back to a transaction of its own.
 */
export type GroupWork<Request> = (
  trx: Kysely<DB>,
  locked: readonly Locked<Request>[],
) => Promise<readonly (Changed | undefined)[]>;

/** Locks the profile of each request, unless an earlier one names it, too. */
async function lockGroup<Request extends Named>(
  trx: Kysely<DB>,
  requests: readonly Request[],
): Promise<Locked<Request>[]> {
  const lockable = requests.filter(({ identity: { profile_id } }) => profile_id === null || isUuid(profile_id));
  const found = await lockFreeProfiles(
    trx,
    lockable.map(({ app, identity }) => ({ app_id: app.app_id, ...identity })),
  );
  const taken = new Set<string>();
  return found.flatMap(({ place, profile_id }) => {
    if (taken.has(profile_id)) return [];
    taken.add(profile_id);
    return [{ request: lockable[place - 1] as Request, profile_id }];
  });
}

/** Returns each response body, as JSON; undefined for requests that must fall back to a transaction of their own. */
export async function changeProfiles<Request extends Named>(
  { db }: Pick<Deps, 'db'>,
  requests: readonly Request[],
  work: GroupWork<Request>,
): Promise<(string | undefined)[]> {
  const { responses, stored } = await inTransaction(db, async (trx) => {
    const locked = await lockGroup(trx, requests);
    const changes = locked.length > 0 ? await work(trx, locked) : [];
    const events = changes.flatMap((changed) => changed?.events ?? []);
    const rendered = locked.map(({ request }, index) => {
      const changed = changes[index];
      return [request, changed && renderResponse(changed.state, request.app)] as const;
    });
    return { responses: new Map(rendered), stored: await recordEvents(trx, events) };
  });
  if (stored > 0) nudgeDispatchers(db);
  return requests.map((request) => responses.get(request));
}
