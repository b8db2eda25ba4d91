// Imports send no events. But when a request has set a subscription, its end is to be reported when it comes, even if
// an import brings it forward.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import { fromDatabase } from '../../lib/datetime.ts';

interface WatchedMoments {
  profile_id: string;
  purchase_no: bigint;
  /** Future moments, and the end even if it is past; the database's text. */
  moments: string[];
}

async function listWatched(trx: Kysely<DB>, app: App, profileIds: readonly string[]): Promise<WatchedMoments[]> {
  // `lateral` and `offset 0` look purchases up one by one: otherwise all purchases of the app might be joined.
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
 * Runs `work`, which changes purchases of these profiles; the caller holds their locks. Watched purchases are then
 * checked at the first future moment that the work introduced, or immediately if it introduced an end that is past.
 */
export async function rescheduleLapsesAfter<T>(
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
