// Imports tell nothing; but the end of a subscription that a request set is to be told when it comes, also where an import brings it forward.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import { fromDatabase } from '../../lib/datetime.ts';

interface Watched {
  profile_id: string;
  purchase_no: bigint;
  /** Moments at which time alone may change what the purchase gives: the database's text. */
  moments: string[];
}

async function listWatched(trx: Kysely<DB>, app: App, profileIds: readonly string[]): Promise<Watched[]> {
  const { rows } = await sql<Watched>`
    select profile_id, purchase_no,
      array_remove(array[purchased_at, expires_at, grace_period_expires_at, refunded_at]::text[], null) as moments
    from lapse_watch join purchase using (app_id, profile_id, purchase_no)
    where app_id = ${app.app_id} and profile_id = any(${[...new Set(profileIds)]}::uuid[])`.execute(trx);
  return rows;
}

/**
 * Does the work, which changes purchases of these profiles, locked by the caller. What is watched of them is looked at by the first moment that
 * the work brought, also one that is past: access that was told to be there ended then.
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
  const sooner = (await listWatched(trx, app, profileIds)).flatMap(({ moments, ...key }) => {
    const [first] = moments
      .filter((one) => !known.get(key.purchase_no)?.includes(one))
      .map(fromDatabase)
      .sort();
    return first === undefined ? [] : [{ ...key, first }];
  });
  await sql`
    update lapse_watch w set check_at = first, retry_at = null
    from unnest(${sooner.map(({ profile_id }) => profile_id)}::uuid[], ${sooner.map(({ purchase_no }) => purchase_no)}::bigint[],
      ${sooner.map(({ first }) => first)}::timestamptz[]) as given (profile_id, purchase_no, first)
    where w.app_id = ${app.app_id} and w.profile_id = given.profile_id and w.purchase_no = given.purchase_no
      and first < check_at`.execute(trx);
  return done;
}
