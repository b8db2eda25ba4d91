// Relabels, in the background, the facts of profiles whose attribution changed. Charts do not wait for this: until then
// they take the label from label_pending. It works gently, so that requests come first.
import { type Kysely, sql } from 'kysely';
import { tryInTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { createSteps } from '../lib/steps.ts';
import { listInTurn, type Turn } from './app-keys.ts';
import { setLimits } from './totals.ts';

/** Kept small, because posts for the profiles of a batch wait until it is written. */
export const LABELS_BATCH = 100;
/** For all profiles of a batch together; a profile with more is a batch by itself. */
const MAX_FACTS = 5_000;
const LOCK_TIMEOUT_MS = 500;

interface Pending {
  app_key: number;
  queue_no: bigint;
  profile_id: string;
  attribution_key: number;
}

const HAS_LABELS = sql`exists (select from label_pending w where w.app_key = app.app_key)`;

/**
 * Returns how many of these profiles, counted from the first, have few enough facts between them to be relabelled in
 * one batch: at least one.
 */
async function countTogether(trx: Kysely<DB>, appKey: number, profileIds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ facts: bigint }>`
    select facts from unnest(${profileIds}::uuid[]) with ordinality as w (profile_id, place)
    cross join lateral (
      select count(*) as facts from (
        select from fact_transaction f where f.app_key = ${appKey} and f.profile_id = w.profile_id limit ${MAX_FACTS + 1}) f
    ) f
    order by place`.execute(trx);
  let facts = 0;
  const first = rows.findIndex((row) => {
    facts += Number(row.facts);
    return facts > MAX_FACTS;
  });
  return first === -1 ? rows.length : Math.max(first, 1);
}

async function listQueued(trx: Kysely<DB>, appKey: number, max: number): Promise<string[]> {
  const { rows } = await sql<{ profile_id: string }>`
    select profile_id from label_pending where app_key = ${appKey} order by queue_no limit ${max}`.execute(trx);
  return rows.map(({ profile_id }) => profile_id);
}

/**
 * Locks profiles of an app that nobody is writing just now, those whose labels have been pending longest first. Queue
 * and record have to agree. They are compared in a `case`, which the planner cannot estimate; with a plain comparison
 * it would expect a single row and scan all profiles.
 */
async function lockPending(trx: Kysely<DB>, appKey: number, max: number): Promise<Pending[]> {
  const { rows } = await sql<Pending>`
    select app_key, r.queue_no, r.profile_id, r.attribution_key
    from label_pending w
    join app using (app_key)
    join profile_attribution r using (app_id, profile_id)
    join profile p using (app_id, profile_id)
    where w.app_key = ${appKey} and case when r.queue_no = w.queue_no then true end
    order by w.queue_no
    limit ${max}
    for no key update of r, p skip locked`.execute(trx);
  return rows;
}

/**
 * Writes the labels of profiles, which the caller has locked, to their facts. This takes a statement of its own, after
 * the one that locks, so that it sees every fact that was written before the locks were taken.
 */
async function relabel(trx: Kysely<DB>, pending: readonly Pending[]): Promise<void> {
  const column = <K extends keyof Pending>(name: K) => pending.map((row) => row[name]);
  await sql`
    with pending as (
      select * from unnest(${column('app_key')}::integer[], ${column('queue_no')}::bigint[], ${column('profile_id')}::uuid[],
        ${column('attribution_key')}::integer[]) as p (app_key, queue_no, profile_id, attribution_key)
    ), install as materialized (
      select f.* from pending join fact_install f using (app_key, profile_id)
      where f.attribution_key <> pending.attribution_key
    ), relabelled_install as (
      update fact_install f set attribution_key = pending.attribution_key
      from install join pending using (app_key, profile_id)
      where f.app_key = install.app_key and f.profile_id = install.profile_id
      returning f.*
    ), changed_install as (
      insert into install_column_change
      select -1, * from install union all select 1, * from relabelled_install
    ), changed as materialized (
      select f.* from pending join fact_transaction f using (app_key, profile_id)
      where f.attribution_key <> pending.attribution_key
    ), awaiting as (
      update fact_pending w set touched = w.touched + 1 from changed
      where w.app_key = changed.app_key and w.profile_id = changed.profile_id and w.purchase_no = changed.purchase_no
      returning w.app_key, w.profile_id, w.purchase_no
    ), relabelled as (
      update fact_transaction f set attribution_key = pending.attribution_key
      from changed join pending using (app_key, profile_id)
      where f.app_key = changed.app_key and f.profile_id = changed.profile_id and f.purchase_no = changed.purchase_no
      returning f.*
    ), moved as (
      -- Facts that are still to be totalled need no images: they will be totalled under the label that they have then.
      insert into fact_moved
      select i.* from (
        select -1 as sign, changed.* from changed
        union all
        select 1, relabelled.* from relabelled
      ) i
      where not exists (select from awaiting w
        where w.app_key = i.app_key and w.profile_id = i.profile_id and w.purchase_no = i.purchase_no)
    ), unqueued as (
      update profile_attribution r set queue_no = null from pending join app using (app_key)
      where r.app_id = app.app_id and r.profile_id = pending.profile_id
    ), forgotten as (
      delete from label_retotalled w using pending where w.app_key = pending.app_key and w.queue_no = pending.queue_no
    )
    delete from label_pending w using pending
    where w.app_key = pending.app_key and w.queue_no = pending.queue_no`.execute(trx);
}

/** Relabels a profile immediately: it is about to lose its record, without which it could not be relabelled later. */
export async function relabelNow(trx: Kysely<DB>, { app_id, app_key }: App, profileId: string): Promise<void> {
  const { rows } = await sql<Pending>`
    select ${app_key}::integer as app_key, queue_no, profile_id, attribution_key from profile_attribution
    where app_id = ${app_id} and profile_id = ${profileId} and queue_no is not null`.execute(trx);
  if (rows.length > 0) await relabel(trx, rows);
}

/** Deletes the marks that the totals left for profiles while these were being relabelled. */
async function deleteRetotalled(db: Kysely<DB>): Promise<void> {
  await sql`
    delete from label_retotalled r where not exists (
      select from label_pending w where w.app_key = r.app_key and w.queue_no = r.queue_no)`.execute(db);
}

/**
 * Relabels at most `limit` profiles, of one app and then of the next, and returns how many. An app whose facts another
 * process has locked waits for the next round. An app that fails does not stop the others.
 */
export async function relabelBatch(
  db: Kysely<DB>,
  limit = LABELS_BATCH,
  turn: Turn = { after: 0, hasMore: false },
): Promise<number> {
  turn.hasMore = false;
  const steps = createSteps();
  let count = 0;
  for (const appKey of await listInTurn(db, HAS_LABELS, turn)) {
    if (count === limit) break;
    const relabelled = await steps.attempt(relabelApp(db, appKey, limit - count), NOTHING);
    count += relabelled.count;
    turn.hasMore ||= relabelled.hasMore;
    turn.after = appKey;
  }
  turn.hasMore ||= count === limit;
  if (!turn.hasMore) await deleteRetotalled(db);
  steps.throwFailures();
  return count;
}

const NOTHING = { count: 0, hasMore: false };

/**
 * Relabels at most `max` profiles of an app. Returns how many, and whether some that it could have relabelled are left.
 * A profile with more facts than one statement has time for, some hundreds of thousands, is not skipped: the other
 * labels of its app wait behind it.
 */
async function relabelApp(db: Kysely<DB>, appKey: number, max: number): Promise<typeof NOTHING> {
  const done = await tryInTransaction(db, LOCK_TIMEOUT_MS, async (trx) => {
    await setLimits(trx);
    const queued = await listQueued(trx, appKey, max);
    // The profiles that could be locked may not be the ones that were listed.
    const locked = await lockPending(trx, appKey, await countTogether(trx, appKey, queued));
    const count = await countTogether(
      trx,
      appKey,
      locked.map(({ profile_id }) => profile_id),
    );
    if (count > 0) await relabel(trx, locked.slice(0, count));
    return { count, hasMore: count > 0 && count < queued.length };
  });
  return done ?? NOTHING;
}
