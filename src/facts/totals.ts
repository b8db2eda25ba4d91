// Keeps the totals: takes facts that are pending and images that are retired, and adds them up into fact_total, in the
// background and in batches. Charts are exact at every moment: they add what is not yet totalled themselves.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import { MONTHLY_HOMES, TOTAL_HOMES, TOTAL_MOMENTS, TOTAL_SUMS } from './totals-schema.ts';

/** What a batch takes: whoever changes one of its facts waits until it is written. */
export const TOTALS_BATCH = 10_000;
const TIMEOUT = '120s';
const LOCK_CLASS = 0x5b5f_0002;

const names = Object.keys(TOTAL_SUMS);
const SUMS = sql.join(
  Object.entries(TOTAL_SUMS).map(([name, sum]) => sql`sum(${sql.raw(sum)})::bigint as ${sql.ref(name)}`),
);
const SUMS_OF_TOTALS = sql.join(names.map((name) => sql`sum(${sql.ref(name)})::bigint as ${sql.ref(name)}`));
const NAMES = sql.join(names.map((name) => sql.ref(name)));
const IS_CHANGED = sql.join(
  names.map((name) => sql`${sql.ref(name)} <> 0`),
  sql` or `,
);
const ADDITIONS = sql.join(
  names.map((name) => sql`${sql.ref(name)} = t.${sql.ref(name)} + ${sql.ref(`excluded.${name}`)}`),
);
const MOMENTS = sql.join(TOTAL_MOMENTS.map(([, day], code) => sql`(${sql.lit(code)}::smallint, i.${sql.ref(day)})`));
/** A grouping per home: by its days, or by its months alone. */
const HOMES = TOTAL_HOMES.map((name, i) => ({
  code: sql.lit(i + 1),
  column: sql.ref(name),
  by: sql.ref(MONTHLY_HOMES.includes(name) ? 'month' : 'day'),
}));
const GROUPINGS = sql.join([sql`(moment, day)`, ...HOMES.map(({ column, by }) => sql`(moment, ${by}, ${column})`)]);
const HOME = sql`case ${sql.join(
  HOMES.map(({ column, code }) => sql`when grouping(${column}) = 0 then ${code}`),
  sql` `,
)} else 0 end`;
const KEY = sql`coalesce(${sql.join(HOMES.map(({ column }) => column))}, 0)`;

const WORK_MEM = '64MB';

/** Of the work in the background, until the end of the transaction. */
export async function setLimits(trx: Kysely<DB>): Promise<void> {
  await sql`select set_config('statement_timeout', ${TIMEOUT}, true), set_config('work_mem', ${WORK_MEM}, true)`.execute(
    trx,
  );
}

/** Adds up to `limit` pending facts and as many retired images of an app; how many it was. Run it in `repeatable read`. */
export async function addToTotals(trx: Kysely<DB>, appKey: number, limit: number): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    with pending as (
      delete from fact_pending where ctid = any(array(
        select ctid from fact_pending where app_key = ${appKey} limit ${limit} for update skip locked))
      returning app_key, profile_id, purchase_no
    ), retired as (
      -- With the facts whose images they are, as most of their sums cancel out: a new label changes those by label alone.
      delete from fact_retired where ctid = any(array(
        select r.ctid from fact_retired r join pending using (app_key, profile_id, purchase_no) for update of r
      ) || array(
        select r.ctid from fact_retired r
        where r.app_key = ${appKey} and not exists (select from fact_pending w
          where w.app_key = r.app_key and w.profile_id = r.profile_id and w.purchase_no = r.purchase_no)
        limit ${limit} for update skip locked))
      returning *
    ), image as (
      select 1 as sign, f.* from pending join fact_transaction f using (app_key, profile_id, purchase_no)
      union all
      select -1, retired.* from retired
    ), changed as (
      insert into fact_column_change
      select image.* from image join fact_column_month m on m.app_key = image.app_key and m.month = first_of_month(purchased_day)
      returning app_key, first_of_month(purchased_day) as month
    ), counted as (
      update fact_column_month m set changes = m.changes + c.count
      from (select app_key, month, count(*) from changed group by app_key, month) c
      where m.app_key = c.app_key and m.month = c.month
    ), summed as materialized (
      select grouping(day) as grain, moment, coalesce(day, month) as day, ${HOME} as home, ${KEY} as key, ${SUMS}
      from (
        select i.*, a.status_key, a.channel_key, a.campaign_key, a.source_key, m.moment, m.day,
          first_of_month(m.day) as month
        from image i join dim_attribution a using (attribution_key)
        cross join lateral (values ${MOMENTS}) as m (moment, day)
        where m.day is not null
      ) f
      group by grouping sets (${GROUPINGS})
    ), by_grain as (
      select * from summed
      union all
      select 1, moment, first_of_month(day), home, key, ${SUMS_OF_TOTALS}
      from summed where grain = 0 group by moment, first_of_month(day), home, key
    ), added as (
      insert into fact_total as t (app_key, grain, home, moment, day, key, ${NAMES})
      select ${appKey}, grain, home, moment, day, key, ${NAMES} from by_grain
      where ${IS_CHANGED}
      order by grain, home, moment, day, key
      on conflict (app_key, grain, home, moment, day, key) do update set ${ADDITIONS}
    )
    select (select count(*) from pending) + (select count(*) from retired) as count`.execute(trx);
  return Number(rows[0]?.count ?? 0n);
}

/**
 * Runs `work` on a connection that has an app's totals, and what is kept beside them, for itself; 0 if another has them. The lock is
 * had before any snapshot of the work: it sees what the last holder wrote.
 */
export async function holdTotals(
  db: Kysely<DB>,
  appKey: number,
  work: (connection: Kysely<DB>) => Promise<number>,
): Promise<number> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ free: boolean }>`
      select pg_try_advisory_lock(${LOCK_CLASS}, ${appKey}) as free`.execute(connection);
    if (!rows[0]?.free) return 0;
    try {
      return await work(connection);
    } finally {
      await sql`select pg_advisory_unlock(${LOCK_CLASS}, ${appKey})`.execute(connection);
    }
  });
}

async function listAppsWithWork(db: Kysely<DB>): Promise<number[]> {
  const { rows } = await sql<{ app_key: number }>`
    select app_key from app
    where exists (select from fact_pending p where p.app_key = app.app_key)
      or exists (select from fact_retired r where r.app_key = app.app_key)`.execute(db);
  return rows.map(({ app_key }) => app_key);
}

/** Runs a batch of every app that has work and that no other process is at; the most that one app had. */
export async function refreshTotals(db: Kysely<DB>, limit = TOTALS_BATCH): Promise<number> {
  let most = 0;
  for (const appKey of await listAppsWithWork(db)) {
    const count = await holdTotals(db, appKey, (connection) =>
      connection
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          await setLimits(trx);
          return addToTotals(trx, appKey, limit);
        }),
    );
    most = Math.max(most, count);
  }
  return most;
}
