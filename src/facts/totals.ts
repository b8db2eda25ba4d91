// Keeps the totals: adds pending facts to fact_total and takes retired images off it, in batches and in the background.
// Charts are exact at every moment, because they themselves account for changes that are not yet totalled.
import { type Kysely, sql } from 'kysely';
import { TOTALS_LOCK } from '../db/advisory-locks.ts';
import { raiseTimeout } from '../db/deadline.ts';
import { inSnapshot } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import { createSteps } from '../lib/steps.ts';
import { addingImages, addingMoves } from './add-images.ts';
import { listAppKeys, listInTurn, type Turn } from './app-keys.ts';

/** The largest batch. Whoever changes one of its facts waits until the batch is written. */
export const TOTALS_BATCH = 10_000;
const MIN_BATCH = 500;
/** The longest that a batch should take: requests give up waiting for a lock after 5 s. */
const BATCH_MS = 2_000;
/**
 * Images of moved facts wait until there are this many: the more are added together, the fewer totals they touch.
 * Nobody waits for their locks.
 */
export const MOVES_BATCH = 20_000;
const TIMEOUT_MS = 120_000;

const WORK_MEM = '64MB';

/** Sets the limits of background work, until the transaction ends. */
export async function setLimits(trx: Kysely<DB>): Promise<void> {
  await raiseTimeout(trx, TIMEOUT_MS);
  await sql`select set_config('work_mem', ${WORK_MEM}, true)`.execute(trx);
}

/**
 * Adds up to `limit` pending facts of an app with their retired images, and up to `limit` retired images of other
 * facts. Returns how many facts and images there were. Run it in `repeatable read`. It marks those profiles whose label
 * is pending, because charts may remember their facts (docs/decisions/0019).
 */
export async function addToTotals(trx: Kysely<DB>, appKey: number, limit: number): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    with pending as (
      delete from fact_pending where ctid = any(array(
        select ctid from fact_pending where app_key = ${appKey} limit ${limit} for update skip locked))
      returning app_key, profile_id, purchase_no
    ), retired as (
      -- In the same batch as the facts they are images of, so that most sums cancel out.
      delete from fact_retired where ctid = any(array(
        select r.ctid from fact_retired r join pending using (app_key, profile_id, purchase_no) for update of r
      ) || array(
        select r.ctid from fact_retired r
        where r.app_key = ${appKey} and not exists (select from fact_pending w
          where w.app_key = r.app_key and w.profile_id = r.profile_id and w.purchase_no = r.purchase_no)
        limit ${limit} for update skip locked))
      returning *
    ), retotalled as (
      -- Only the holder of the totals lock runs this, so none is written twice.
      insert into label_retotalled (app_key, queue_no)
      select app.app_key, r.queue_no
      from (select profile_id from pending union select profile_id from retired) c
      join app on app.app_key = ${appKey}
      join profile_attribution r on r.app_id = app.app_id and r.profile_id = c.profile_id
      where r.queue_no is not null
        and not exists (select from label_retotalled w where w.app_key = app.app_key and w.queue_no = r.queue_no)
    ), image as (
      select 1 as sign, f.* from pending join fact_transaction f using (app_key, profile_id, purchase_no)
      union all
      select -1, retired.* from retired
    ), ${addingImages(appKey)}
    select (select count(*) from pending) + (select count(*) from retired) as count`.execute(trx);
  return Number(rows[0]?.count ?? 0n);
}

/**
 * Runs `work` on a connection that holds the lock of an app's totals and columns; returns 0 if another connection holds
 * it. The lock is taken before `work` takes any snapshot, so it sees what the last holder wrote.
 */
export async function withTotalsLocked(
  db: Kysely<DB>,
  appKey: number,
  work: (connection: Kysely<DB>) => Promise<number>,
): Promise<number> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ free: boolean }>`
      select pg_try_advisory_lock(${TOTALS_LOCK}, ${appKey}) as free`.execute(connection);
    if (!rows[0]?.free) return 0;
    try {
      return await work(connection);
    } finally {
      await sql`select pg_advisory_unlock(${TOTALS_LOCK}, ${appKey})`.execute(connection);
    }
  });
}

/** The outcome of a round over apps. */
export interface Refreshed {
  /** How many facts and images were added for the app that had the most. */
  count: number;
  /** How long the slowest app took. */
  slowestMs: number;
}

/** A round that starts no further app once it has taken `maxMs`; the next round begins with those that are left. */
export interface Round extends Turn {
  maxMs: number;
}

const wholeRound = (): Round => ({ after: 0, hasMore: false, maxMs: Number.POSITIVE_INFINITY });

/**
 * Runs `work` on the totals of these apps, except those that another process is working on. An app whose work fails
 * does not stop the others: failures are thrown at the end.
 */
async function refreshApps(
  db: Kysely<DB>,
  { appKeys, round = wholeRound() }: { appKeys: readonly number[]; round?: Round },
  work: (trx: Kysely<DB>, appKey: number) => Promise<number>,
): Promise<Refreshed> {
  const refreshed = { count: 0, slowestMs: 0 };
  const steps = createSteps();
  const from = performance.now();
  round.hasMore = false;
  for (const [served, appKey] of appKeys.entries()) {
    const began = performance.now();
    if (served > 0 && began - from >= round.maxMs) {
      round.hasMore = true;
      break;
    }
    round.after = appKey;
    const count = withTotalsLocked(db, appKey, (connection) =>
      inSnapshot(connection, async (trx) => {
        await setLimits(trx);
        return work(trx, appKey);
      }),
    );
    refreshed.count = Math.max(refreshed.count, await steps.attempt(count, 0));
    refreshed.slowestMs = Math.max(refreshed.slowestMs, performance.now() - began);
  }
  steps.throwFailures();
  return refreshed;
}

const HAS_WORK = sql`exists (select from fact_pending p where p.app_key = app.app_key)
  or exists (select from fact_retired r where r.app_key = app.app_key)`;

/** Adds a batch for every app that has work and that no other process is working on. */
export async function refreshTotals(db: Kysely<DB>, limit = TOTALS_BATCH, round = wholeRound()): Promise<Refreshed> {
  const appKeys = await listInTurn(db, HAS_WORK, round);
  return refreshApps(db, { appKeys, round }, (trx, appKey) => addToTotals(trx, appKey, limit));
}

/**
 * Returns how many facts the next batch should take after one of `size`; `done` is undefined if that one failed. How
 * many fit depends on the machine, and on how many labels the facts have.
 */
export function nextBatchSize(size: number, done: Refreshed | undefined): number {
  return Math.round(Math.min(TOTALS_BATCH, Math.max(MIN_BATCH, adaptedSize(size, done))));
}

function adaptedSize(size: number, done: Refreshed | undefined): number {
  if (!done) return size / 2;
  return done.count < size ? 2 * size : Math.min(2 * size, (size * BATCH_MS) / done.slowestMs);
}

/** Adds all moved facts of an app to the totals together, because the two images of a fact must not be separated. */
async function addMoves(trx: Kysely<DB>, appKey: number): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    with image as (
      delete from fact_moved where app_key = ${appKey} returning *
    ), ${addingMoves(appKey)}
    select count(*) from image`.execute(trx);
  return Number(rows[0]!.count);
}

/** Adds the moved facts of every app that has at least this many images of them to the totals. */
export async function refreshMoves(db: Kysely<DB>, min = 1): Promise<Refreshed> {
  const hasMoves = sql`(
    select count(*) from (select from fact_moved m where m.app_key = app.app_key limit ${min}) m) = ${min}`;
  return refreshApps(db, { appKeys: await listAppKeys(db, hasMoves) }, addMoves);
}
