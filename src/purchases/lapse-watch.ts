// Periods whose lapse webhooks are still to be told. Only transactions set by requests are watched: imported history, however
// it lapsed, tells nothing.
import { type Kysely, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import { fromDatabase } from '../lib/datetime.ts';
import type { ChainTransaction } from './chain.ts';

interface ProfileKey {
  app_id: string;
  profile_id: string;
}

export interface LapsePlan {
  watch: ChainTransaction[];
  /** Numbers of purchases that are not to be watched any more. */
  forget: bigint[];
}

/**
 * What a write changes of what is watched; `isMoved` says that the chain came from another profile. A period that had lapsed
 * before and still has is left as it is: told already, about to be told, or of an import. Pure.
 */
export function planLapses(
  before: readonly ChainTransaction[],
  after: readonly ChainTransaction[],
  { now, isMoved }: { now: string; isMoved: boolean },
): LapsePlan {
  const known = new Map(before.map(({ purchase_no, lapse_at }) => [purchase_no, lapse_at && fromDatabase(lapse_at)]));
  const watch = after.filter(({ purchase_no, lapse_at }) => {
    if (lapse_at === null) return false;
    const [earlier, lapse] = [known.get(purchase_no), fromDatabase(lapse_at)];
    if (lapse > now) return isMoved || earlier !== lapse;
    return !earlier || earlier > now;
  });
  const forget = after.filter(({ lapse_at }) => lapse_at === null).map(({ purchase_no }) => purchase_no);
  return { watch, forget };
}

export async function unwatch(
  trx: Kysely<DB>,
  { app_id, profile_id }: ProfileKey,
  numbers: readonly bigint[],
): Promise<void> {
  if (numbers.length === 0) return;
  await sql`
    delete from lapse_watch
    where app_id = ${app_id} and profile_id = ${profile_id} and purchase_no = any(${numbers}::bigint[])`.execute(trx);
}

export async function watch(
  trx: Kysely<DB>,
  { app_id, profile_id }: ProfileKey,
  transactions: readonly Pick<ChainTransaction, 'purchase_no' | 'lapse_at'>[],
): Promise<void> {
  const watched = transactions.filter(({ lapse_at }) => lapse_at !== null);
  if (watched.length === 0) return;
  const statement = sql`
    insert into lapse_watch (app_id, profile_id, purchase_no, check_at)
    select ${app_id}::uuid, ${profile_id}::uuid, * from unnest(
      ${watched.map(({ purchase_no }) => purchase_no)}::bigint[], ${watched.map(({ lapse_at }) => lapse_at)}::timestamptz[])
    on conflict (app_id, profile_id, purchase_no) do update set check_at = excluded.check_at`;
  await executePrepared(trx, 'watch_lapses', statement);
}

export interface DueProfile {
  app_id: string;
  profile_id: string;
}

/**
 * Profiles with something that may have lapsed by `now` (a timestamp), the longest due first. Those that another transaction is at are
 * left out: as many as are listed could keep all others waiting. They are locked for this statement only.
 */
export async function listDueProfiles(db: Kysely<DB>, now: string, limit: number): Promise<DueProfile[]> {
  const { rows } = await sql<DueProfile>`
    select p.app_id, p.profile_id
    from (
      select app_id, profile_id, min(check_at) as due_at from lapse_watch where check_at <= ${now}
      group by app_id, profile_id order by due_at) due
    join profile p using (app_id, profile_id)
    where p.deleted_at is null
    order by due_at limit ${limit}
    for no key update of p skip locked`.execute(db);
  return rows;
}

export interface DueChain {
  store: string;
  store_original_transaction_id: string;
  /** Numbers of the purchases that are due. */
  numbers: bigint[];
}

/** Takes what may have lapsed in a locked profile: it is not watched any more. */
export async function takeDue(trx: Kysely<DB>, { app_id, profile_id }: ProfileKey, now: string): Promise<DueChain[]> {
  const { rows } = await sql<DueChain>`
    with due as (
      delete from lapse_watch where app_id = ${app_id} and profile_id = ${profile_id} and check_at <= ${now}
      returning app_id, profile_id, purchase_no, check_at
    )
    select p.store, p.store_original_transaction_id, array_agg(purchase_no) as numbers
    from due join purchase p using (app_id, profile_id, purchase_no)
    group by 1, 2 order by min(due.check_at), 1, 2`.execute(trx);
  return rows;
}

/** Puts off a profile whose lapses could not be told, so that it does not keep others waiting. */
export async function putOff(db: Kysely<DB>, { app_id, profile_id }: ProfileKey, now: string): Promise<void> {
  await sql`
    update lapse_watch set check_at = ${now}::timestamptz + interval '1 minute'
    where app_id = ${app_id} and profile_id = ${profile_id} and check_at <= ${now}`.execute(db);
}
