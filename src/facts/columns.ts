// Keeps the columns: per app and month of purchase, the facts that the totals contain, stored in chunks by column. To
// sum a few columns of millions of facts, a chart reads them in a tenth of the time that the rows would take. Like the
// totals, columns are written in the background, and charts that use them are exact.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import { PAGE_SIZE } from './column-chunk.ts';
import {
  type ColumnLayout,
  createFailedMonths,
  type FailedMonths,
  failedRelation,
  groupOf,
  isInMonth,
  MAX_APPENDED,
  type Month,
  refreshMonths,
  removeChanges,
  removeChunks,
  selectChanges,
  writeGroups,
} from './column-groups.ts';
import { FACT_KIND } from './kind.ts';
import { quarterOf } from './quarters.ts';
import { isIn } from './retire.ts';
import { setLimits } from './totals.ts';
import { GRAINS, momentCode } from './totals-schema.ts';

/** The columns kept of a fact, as text: keys and codes, days and quarters of an hour, amounts on each money basis. */
export const FACT_COLUMNS = {
  kind: FACT_KIND,
  purchased_day: sql`f.purchased_day`,
  active_until_day: sql`f.active_until_day`,
  purchased_quarter: quarterOf('purchased_at', 'purchased_day'),
  active_until_quarter: quarterOf('active_until', 'active_until_day'),
  price: sql`f.revenue || ':' || f.proceeds || ':' || f.net`,
  monthly: sql`f.monthly_revenue || ':' || f.monthly_proceeds || ':' || f.monthly_net`,
  profile_page: sql`f.profile_no / ${sql.lit(PAGE_SIZE)}`,
  profile_place: sql`f.profile_no % ${sql.lit(PAGE_SIZE)}`,
  country_key: sql`f.country_key`,
  store_key: sql`f.store_key`,
  product_key: sql`f.product_key`,
  placement_key: sql`f.placement_key`,
  offer_key: sql`f.offer_key`,
  attribution_key: sql`f.attribution_key`,
  period: sql`f.period`,
  duration: sql`f.duration`,
  renewal_status: sql`f.renewal_status`,
  cancellation_reason: sql`f.cancellation_reason`,
} as const satisfies Record<string, RawBuilder<unknown>>;

const FACTS: ColumnLayout = {
  day: 'purchased_day',
  changes: 'fact_column_change',
  chunks: 'fact_column_chunk',
  columns: FACT_COLUMNS,
};

/** The columns of a fact `f` that FACT_COLUMNS are computed from. */
const IMAGE_COLUMNS = sql.join(
  [
    ...['app_key', 'profile_id', 'purchased_day', 'purchased_at', 'active_until_day', 'active_until', 'refunded_at'],
    ...['revenue', 'proceeds', 'net', 'monthly_revenue', 'monthly_proceeds', 'monthly_net'],
    ...['country_key', 'store_key', 'product_key', 'placement_key', 'offer_key', 'attribution_key'],
    ...['period', 'duration', 'renewal_status', 'cancellation_reason'],
  ].map((name) => sql.ref(`f.${name}`)),
);

/** Months with fewer facts get no columns: charts read the facts. */
const MIN_FACTS = 3_000;
/** When a month has this many changes, they become a group of their own. */
const MIN_CHANGES = 4_096;
/** Like MAX_APPENDED, but for when there is nothing else to do. */
const MAX_APPENDED_WHEN_IDLE = 0.1;
/** Periods of more days than this are long. */
const LONG_DAYS = 40;
/** While the totals lack this many facts, columns wait, because months are about to change. */
const MAX_PENDING = 10_000;

interface Thresholds {
  minFacts: number;
  minChanges: number;
  maxAppended: number;
}

const MONTH = sql.lit(GRAINS.indexOf('month'));
const PURCHASED = sql.lit(momentCode('purchased'));

/** Returns the condition that the totals of an app lack so few facts that its months will stay as they are for now. */
function isTotalled(appKey: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select count(*) from (select from fact_pending w where w.app_key = ${appKey} limit ${MAX_PENDING}) w) < ${MAX_PENDING}`;
}

/** Lists for each app the month most in need: one without columns, or else the one with the most changes since. */
async function listMonthsInNeed(
  db: Kysely<DB>,
  { minFacts, minChanges, maxAppended }: Thresholds,
  failed: FailedMonths,
): Promise<Month[]> {
  const { rows } = await sql<Month>`
    select distinct on (app.app_key) app.app_key, t.day as month, coalesce(m.appended + m.changes <= ${maxAppended}::float8 * m.facts, false) as can_append
    from app
    cross join lateral (
      select t.day, t.n from fact_total t
      where t.app_key = app.app_key and t.grain = ${MONTH} and t.home = 0 and t.moment = ${PURCHASED} and t.key = 0
    ) t
    left join fact_column_month m on m.app_key = app.app_key and m.month = t.day
    where case when m.month is null then t.n >= ${minFacts} else m.changes >= ${minChanges} end
      and ${isTotalled(sql`app.app_key`)}
      and (app.app_key, t.day) not in ${failedRelation(failed)}
    order by app.app_key, m.changes desc nulls first, t.n desc`.execute(db);
  return rows;
}

/**
 * Selects what the totals contain of a month. The images of moved facts cancel out, except those under the labels that
 * the totals have. If a fact was removed and came back, the totals may add one image of it twice and take off another.
 */
function selectTotalled(month: Month): RawBuilder<unknown> {
  const inMonth = isInMonth(FACTS, month);
  return sql`
    select 1 as sign, ${IMAGE_COLUMNS} from fact_transaction f
    where ${inMonth} and not ${isIn('fact_pending')} and not ${isIn('fact_moved')}
    union all
    select sign(times)::integer, ${IMAGE_COLUMNS} from (
      select sum(sign) as times, ${IMAGE_COLUMNS} from (
        select 1 as sign, purchase_no, ${IMAGE_COLUMNS} from fact_transaction f
        where ${inMonth} and not ${isIn('fact_pending')} and ${isIn('fact_moved')}
        union all
        select 1, purchase_no, ${IMAGE_COLUMNS} from fact_retired f where ${inMonth}
        union all
        select -f.sign, purchase_no, ${IMAGE_COLUMNS} from fact_moved f where ${inMonth}
      ) f
      group by purchase_no, ${IMAGE_COLUMNS}
    ) f
    cross join generate_series(1, abs(times))`;
}

/**
 * Writes images in groups, sorted so that charts read little. Long periods stand together, so that the stocks of
 * later months can skip all other groups; then equal labels, so that a group has few of them and a filter skips whole
 * groups; then the facts of a profile, which ARPPU counts once.
 */
function writeImages(trx: Kysely<DB>, month: Month, images: RawBuilder<unknown>): Promise<number> {
  const order = sql`i.active_until_day - i.purchased_day > ${sql.lit(LONG_DAYS)}, i.attribution_key, profile_no`;
  const rows = sql`(select i.*, profile_no, ${groupOf(order)} as row_group
    from (${images}) i join fact_install using (app_key, profile_id))`;
  return writeGroups(trx, FACTS, { month, rows });
}

async function rebuild(trx: Kysely<DB>, month: Month): Promise<void> {
  await removeChunks(trx, FACTS, month);
  const facts = await writeImages(trx, month, selectTotalled(month));
  await sql`insert into fact_column_month (app_key, month, facts) values (${month.app_key}, ${month.month}, ${facts})
    on conflict (app_key, month) do update set facts = ${facts}, appended = 0, changes = 0`.execute(trx);
}

async function append(trx: Kysely<DB>, month: Month): Promise<void> {
  const appended = await writeImages(trx, month, selectChanges(FACTS, month));
  await sql`update fact_column_month set appended = appended + ${appended}, changes = 0
    where app_key = ${month.app_key} and month = ${month.month}`.execute(trx);
}

/**
 * Brings the columns of a month up to date. This needs no snapshot: every statement that reads runs after the lock was
 * taken, and only the holder of the lock adds to the totals, and thereby to the changes.
 */
function refreshMonth(month: Month, connection: Kysely<DB>): Promise<number> {
  return connection.transaction().execute(async (trx) => {
    await setLimits(trx);
    await (month.can_append ? append(trx, month) : rebuild(trx, month));
    await removeChanges(trx, FACTS, month);
    return 1;
  });
}

/** Brings the columns of one month of each app up to date, if any month needs it. Returns for how many apps it did. */
export async function refreshColumns(
  db: Kysely<DB>,
  { minFacts = MIN_FACTS, minChanges = MIN_CHANGES, maxAppended = MAX_APPENDED } = {},
  failed = createFailedMonths(),
): Promise<number> {
  const months = await listMonthsInNeed(db, { minFacts, minChanges, maxAppended }, failed);
  return refreshMonths(db, { months, failed }, refreshMonth);
}

/**
 * Rebuilds the columns of a month to which more than a tenth was appended, and returns the number of months. While
 * there is other work, keeping months below that share would cost too much; but charts with filters and ARPPU take half
 * as long again when a fifth was appended. Does one month at a time, because it takes seconds, and in random order, so
 * that a month that cannot be rebuilt does not keep the others waiting.
 */
export async function tidyColumns(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<Month>`
    select app_key, month, false as can_append from fact_column_month m
    where appended > ${MAX_APPENDED_WHEN_IDLE}::float8 * facts and ${isTotalled(sql`m.app_key`)}
    order by random() limit 1`.execute(db);
  return refreshMonths(db, { months: rows }, refreshMonth);
}
