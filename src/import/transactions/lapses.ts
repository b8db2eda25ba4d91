// Imports tell nothing; but the end of a subscription that a request set is to be told when it comes, also where an import brings it forward.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import { fromDatabase } from '../../lib/datetime.ts';

interface WatchedMoments {
  profile_id: string;
  purchase_no: bigint;
  /** Moments to come, and the end, also one that is past: the database's text. */
  moments: string[];
}

async function listWatched(trx: Kysely<DB>, app: App, profileIds: readonly string[]): Promise<WatchedMoments[]> {
  // Looked up one by one: the purchases of the app may be joined whole otherwise.
  const { rows } = await sql<WatchedMoments>`
    select profile_id, purchase_no, moments
    from lapse_watch w
    cross join lateral (
      select array(
        select at::text from unnest(array[purchased_at, expires_at, grace_period_expires_at, refunded_at]) at
        where at > statement_timestamp() or at = least(refunded_at, coalesce(grace_period_expires_at, expires_at))
      ) as moments
      from purchase p
      where p.app_id = w.app_id and p.profile_id = w.profile_id and p.purchase_no = w.purchase_no
      offset 0) p
    where app_id = ${app.app_id} and profile_id = any(${[...new Set(profileIds)]}::uuid[])`.execute(trx);
  return rows;
}

/**
 * Does the work, which changes purchases of these profiles, locked by the caller. What is watched of them is looked at by the first moment to
 * come that the work brought, or at once where that is an end that is past.
 */
export async function watchingChanges<T>(
  trx: Kysely<DB>,
  { app, profileIds }: { app: App; profileIds: readonly string[] },
  work: () => Promise<T>,
): Promise<T> {
  const before = await listWatched(trx, app, profileIds);
  const done = await work();
  if (before.length === 0) return done;
  const known = new Map(before.map(({ purchase_no, moments }) => [purchase_no, moments]));
  const changed = (await listWatched(trx, app, profileIds)).flatMap(({ moments, ...key }) => {
    const brought = moments.filter((one) => !known.get(key.purchase_no)?.includes(one)).map(fromDatabase);
    return brought.length > 0 ? [{ ...key, first: brought.sort()[0] }] : [];
  });
  if (changed.length === 0) return done;
  await sql`
    update lapse_watch w set check_at = first, retry_at = null
    from unnest(${changed.map(({ profile_id }) => profile_id)}::uuid[],
      ${changed.map(({ purchase_no }) => purchase_no)}::bigint[], ${changed.map(({ first }) => first)}::timestamptz[])
      as given (profile_id, purchase_no, first)
    where w.app_id = ${app.app_id} and w.profile_id = given.profile_id and w.purchase_no = given.purchase_no
      and first < check_at`.execute(trx);
  return done;
}
