// Watches for moments at which time alone will change what a purchase gives, so that they are reported to webhooks.
// Only chains that requests have touched are watched: imported history, however it lapsed, sends no events.
import { type Kysely, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import { fromDatabase, timestampOf } from '../lib/datetime.ts';
import type { ProfileKey } from '../profile/state.ts';
import type { ChainTransaction } from './chain.ts';

export function hasLapsed({ lapse_at }: ChainTransaction, now: string): boolean {
  return lapse_at !== null && fromDatabase(lapse_at) <= now;
}

/**
 * Returns the next moment (a timestamp) at which the transaction begins, enters its grace period or ends; null if there
 * is none or it has lapsed.
 */
function nextMoment(transaction: ChainTransaction, now: string): string | null {
  if (hasLapsed(transaction, now)) return null;
  const { purchased_at, expires_at, grace_period_expires_at, refunded_at } = transaction;
  const dates = [purchased_at, expires_at, grace_period_expires_at, refunded_at].filter((date) => date !== null);
  const coming = dates.map(fromDatabase).filter((date) => date > now);
  return coming.sort()[0] ?? null;
}

interface Watched {
  purchase_no: bigint;
  check_at: string;
}

/** Returns what to watch in a chain after `now`. */
export function comingMoments(chain: readonly ChainTransaction[], now: string): Watched[] {
  return chain.flatMap((transaction) => {
    const check_at = nextMoment(transaction, now);
    return check_at === null ? [] : [{ purchase_no: transaction.purchase_no, check_at }];
  });
}

/**
 * How long the report of a lapse that was already past when it was set is held back: if history is sent in order, the
 * next transaction may continue the chain and take the lapse back.
 */
const HOLD_BACK_MS = 2_000;

export interface LapsePlan {
  watch: Watched[];
  /** Numbers of purchases to stop watching. */
  forget: bigint[];
}

/**
 * Plans how a write to the chain at `now` (a timestamp) changes what is watched. A period that had lapsed before and
 * still has is left alone: it has been reported, is about to be, or was imported. Pure.
 */
export function planLapses(
  before: readonly ChainTransaction[],
  after: readonly ChainTransaction[],
  now: string,
): LapsePlan {
  const numbersOf = (chain: readonly { purchase_no: bigint }[]) => new Set(chain.map(({ purchase_no }) => purchase_no));
  const lapsed = (chain: readonly ChainTransaction[]) => chain.filter((one) => hasLapsed(one, now));
  const alreadyLapsed = numbersOf(lapsed(before));
  const coming = comingMoments(after, now);
  const soon = timestampOf(new Date(Date.parse(now) + HOLD_BACK_MS));
  const newlyLapsed = lapsed(after).filter(({ purchase_no }) => !alreadyLapsed.has(purchase_no));
  const kept = numbersOf([...coming, ...lapsed(after)]);
  return {
    watch: [...coming, ...newlyLapsed.map(({ purchase_no }) => ({ purchase_no, check_at: soon }))],
    forget: [...alreadyLapsed, ...numbersOf(comingMoments(before, now))].filter((number) => !kept.has(number)),
  };
}

/**
 * Stops watching these transactions. The caller holds the profile's lock, as for everything here that changes what is
 * watched, except `retryLater`.
 */
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

/**
 * Lets the watch of a chain follow it to another profile. Rows are deleted and inserted, so that the table can be
 * sharded by profile.
 */
export async function moveWatch(
  trx: Kysely<DB>,
  { app_id, profile_id }: ProfileKey,
  { to, numbers }: { to: string; numbers: readonly bigint[] },
): Promise<void> {
  await sql`
    with gone as (
      delete from lapse_watch
      where app_id = ${app_id} and profile_id = ${profile_id} and purchase_no = any(${numbers}::bigint[])
      returning app_id, purchase_no, check_at
    )
    insert into lapse_watch (app_id, profile_id, purchase_no, check_at)
    select app_id, ${to}::uuid, purchase_no, check_at from gone`.execute(trx);
}

/** Watches each transaction until its moment; one already watched gets the new moment. */
export async function watch(
  trx: Kysely<DB>,
  { app_id, profile_id }: ProfileKey,
  moments: readonly Watched[],
): Promise<void> {
  if (moments.length === 0) return;
  const statement = sql`
    insert into lapse_watch as old (app_id, profile_id, purchase_no, check_at)
    select ${app_id}::uuid, ${profile_id}::uuid, * from unnest(
      ${moments.map(({ purchase_no }) => purchase_no)}::bigint[], ${moments.map(({ check_at }) => check_at)}::timestamptz[])
    on conflict (app_id, profile_id, purchase_no) do update set check_at = excluded.check_at, retry_at = null
      where old.check_at <> excluded.check_at`;
  await executePrepared(trx, 'watch_lapses', statement);
}

/**
 * Returns profiles with something due, longest overdue first. Leaves out those that another transaction holds: if they
 * filled the list, all others would have to wait. Locks the profiles for this statement only.
 */
export async function listDueProfiles(db: Kysely<DB>, limit: number): Promise<ProfileKey[]> {
  const { rows } = await sql<ProfileKey>`
    select p.app_id, p.profile_id
    from (
      select app_id, profile_id, min(check_at) as due_at from lapse_watch
      where check_at <= statement_timestamp() and (retry_at > statement_timestamp()) is not true
      group by app_id, profile_id order by due_at) due
    join profile p using (app_id, profile_id)
    where p.deleted_at is null
    order by due_at limit ${limit}
    for no key update of p skip locked`.execute(db);
  return rows;
}

interface DueChain {
  store: string;
  store_original_transaction_id: string;
  /** The first moment that is due, as the database's text. */
  due_at: string;
  /** Numbers of the purchases that are due. */
  numbers: bigint[];
}

/** Takes what is due for a locked profile, at `now` (a timestamp by the database's clock), and stops watching it. */
export async function takeDue(
  trx: Kysely<DB>,
  { app_id, profile_id }: ProfileKey,
): Promise<{ now: string; due: DueChain[] }> {
  const statement = sql<DueChain & { now: string }>`
    with due as (
      delete from lapse_watch
      where app_id = ${app_id} and profile_id = ${profile_id} and check_at <= statement_timestamp()
      returning app_id, profile_id, purchase_no, check_at
    ), chain as (
      select p.store, p.store_original_transaction_id, min(due.check_at) as due_at, array_agg(purchase_no) as numbers
      from due join purchase p using (app_id, profile_id, purchase_no)
      group by 1, 2
    )
    select statement_timestamp() as now, store, store_original_transaction_id, due_at, numbers
    from (select) present left join chain on true
    order by due_at, store, store_original_transaction_id`;
  const rows = await executePrepared(trx, 'take_due', statement);
  return { now: fromDatabase((rows[0] as { now: string }).now), due: rows.filter(({ due_at }) => due_at !== null) };
}

/** Defers by a minute a profile whose due events cannot be reported, so that it does not hold up others. */
export async function retryLater(db: Kysely<DB>, { app_id, profile_id }: ProfileKey): Promise<void> {
  await sql`
    update lapse_watch set retry_at = statement_timestamp() + interval '1 minute'
    where app_id = ${app_id} and profile_id = ${profile_id} and check_at <= statement_timestamp()`.execute(db);
}
