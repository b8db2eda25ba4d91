// Entries from the totals instead of fact by fact. Totals hold whole days or months that are past. What they lack is added: facts that
// are pending, facts of later days, and facts whose refund is still to come; what they still hold of changed facts is taken
// off. Everything is read in one snapshot, so the sum is exactly that of the facts.
import { sql } from 'kysely';
import {
  GRAINS,
  MONTHLY_HOMES,
  TOTAL_HOMES,
  TOTAL_MOMENTS,
  TOTALLED_ATTRIBUTES,
  type TotalHome,
  type TotalSum,
} from '../facts/totals-schema.ts';
import { localDay } from '../lib/zone.ts';
import type { Dimension } from './dimensions.ts';
import { AMOUNTS, type Entries, type Moment } from './entries.ts';
import { listRanges, monthStart, type Range } from './ranges.ts';
import {
  ATTRIBUTION_COLUMN,
  and,
  beforeEnd,
  bucketOf,
  conditions,
  currentLabel,
  dayOf,
  hasValue,
  listDimensions,
  moment,
  nowOf,
  OWN_LABEL,
  pendingLabels,
  readsPendingLabels,
  type Source,
  type Sql,
  segmentKey,
  sinceStart,
} from './sources.ts';

/** The count of a total that has just the facts of these conditions. */
const COUNTS: Readonly<Record<string, TotalSum>> = {
  '': 'n',
  priced: 'n_priced',
  trial: 'n_trial',
  paid: 'n_paid',
  first_paid: 'n_first_paid',
  one_time: 'n_one_time',
  'paid not_refunded': 'n_kept',
  'paid not_refunded adds_monthly': 'n_monthly',
};

/** The one column of totals by which the question splits and filters; null for none, undefined if it takes several. */
function homeOf({ query }: Source): TotalHome | null | undefined {
  const dimensions = listDimensions(query);
  const columns = new Set(dimensions.map(({ home }) => home.column));
  if (columns.size === 0) return null;
  if (columns.size > 1) return undefined;
  const [column] = columns;
  const attributes = new Set(column === ATTRIBUTION_COLUMN ? dimensions.map(attributeOf) : []);
  const [attribute] = attributes;
  if (attributes.size === 1 && attribute && isOneOf(TOTALLED_ATTRIBUTES, attribute)) return `${attribute}_key`;
  return isOneOf(TOTAL_HOMES, column) ? column : undefined;
}

function attributeOf({ home }: Dimension): string | undefined {
  return 'value' in home ? home.value : undefined;
}

function isOneOf<T extends string>(names: readonly T[], name: string | undefined): name is T {
  return (names as readonly string[]).includes(name ?? '');
}

/** Whether the totals can answer this: in the app's days, and by no more than one column that they are split by. */
export function hasTotals(source: Source, { of, where, until }: Entries): boolean {
  const { inAppZone, dateType } = source.query;
  const isAsked = source.facts.usesTotals && inAppZone && dateType === 'purchase_date' && of === 'transaction';
  return isAsked && COUNTS[where.join(' ')] !== undefined && homeOf(source) !== undefined && isKept(source, until);
}

/** Whether the days in question are those of whole months, where the totals are kept by month alone. */
function isKept(source: Source, until: Moment | undefined): boolean {
  return !isMonthly(source) || rangesOf(source, until).every(({ grain }) => grain === 'month');
}

function isMonthly(source: Source): boolean {
  const home = homeOf(source);
  return home != null && MONTHLY_HOMES.includes(home);
}

function rangesOf(source: Source, until: Moment | undefined): Range[] {
  return listRanges(source.span.days, horizonOf(source), until !== undefined);
}

/** The first day for which the totals are not read: today, or the first of its month. */
function horizonOf(source: Source): number {
  const { zone, now } = source.query;
  const today = dayNumber(zone, now);
  return isMonthly(source) ? monthStart(today) : today;
}

/** The same rows as fact by fact: `bucket, key, a0 …`. */
export function totalRows(source: Source, entries: Entries): Sql {
  return entries.until ? stockRows(source, entries) : flowRows(source, entries);
}

function flowRows(source: Source, entries: Entries): Sql {
  const parts = partsOf(source, entries, { at: entries.at, sign: 1 });
  return sql`select bucket, key, ${amounts(entries, (name) => sql`sum(${name})`)}
    from (${sql.join(parts, sql` union all `)}) p group by 1, 2 having sum(n) <> 0`;
}

/** Differences by bucket, of the keys of which anything is open at the end of any bucket. */
function stockRows(source: Source, entries: Entries): Sql {
  const parts = [
    ...partsOf(source, entries, { at: entries.at, sign: 1 }),
    ...partsOf(source, entries, { at: entries.until!, sign: -1 }),
  ];
  const names = ['n', ...AMOUNTS[entries.amount].map((_, i) => `a${i}`)].map((name) => sql.ref(name));
  const sums = sql.join(names.map((name) => sql`sum(${name}) as ${name}`));
  return sql`select bucket, key, ${amounts(entries, (name) => name)}
    from (
      select *, bool_or(open <> 0) over (partition by key) as is_seen
      from (
        select *, sum(n) over (partition by key order by bucket) as open
        from (select bucket, key, ${sums} from (${sql.join(parts, sql` union all `)}) p group by 1, 2) q
      ) r
    ) s where is_seen`;
}

/** The sums of the answer from those of the parts. */
function amounts({ amount, times }: Entries, of: (name: Sql) => Sql): Sql {
  const columns = AMOUNTS[amount];
  if (columns.length === 0) return sql`${of(sql.ref('n'))} * ${sql.lit(times)} as a0`;
  return sql.join(columns.map((_, i) => sql`${of(sql.ref(`a${i}`))} * ${sql.lit(times)} as ${sql.ref(`a${i}`)}`));
}

/** A moment at which facts count; of a stock, openings count 1 and closings -1. */
interface Counted {
  at: Moment;
  sign: 1 | -1;
}

function partsOf(source: Source, entries: Entries, counted: Counted): Sql[] {
  const facts = listFacts(source, entries, counted).map((part) => factRows(source, entries, { ...counted, ...part }));
  return [pastDays(source, entries, counted), ...facts];
}

/** Today in the app's zone. */
function todayOf({ query }: Source): Sql {
  return sql.lit(dayNumber(query.zone, query.now));
}

function dayNumber(zone: Source['query']['zone'], now: string): number {
  return localDay(zone, Math.floor(Date.parse(now) / 1000));
}

function pastDays(source: Source, entries: Entries, { at, sign }: Counted): Sql {
  const { query, owner } = source;
  const ranges = rangesOf(source, entries.until);
  const home = homeOf(source);
  const key = query.segmentation ? sql`t.key` : sql`null::integer`;
  const isAsked = query.filters.map((filter) => hasValue(sql`t.key`, filter));
  const sum = (name: TotalSum) => sql`sum(${sql.ref(`t.${name}`)}) * ${sql.lit(sign)}`;
  const columns = AMOUNTS[entries.amount].map((name, i) => sql`, ${sum(name)} as ${sql.ref(`a${i}`)}`);
  return sql`select r.bucket, ${key} as key, ${sum(COUNTS[entries.where.join(' ')]!)} as n ${sql.join(columns, sql` `)}
    from unnest(${ranges.map(({ bucket }) => bucket)}::integer[],
      ${ranges.map(({ grain }) => GRAINS.indexOf(grain))}::smallint[],
      ${ranges.map(({ from }) => from)}::integer[], ${ranges.map(({ to }) => to)}::integer[])
      as r (bucket, grain, since, until)
    join fact_total t on t.app_key = ${owner.app_key} and t.grain = r.grain and t.home = ${sql.lit(home ? TOTAL_HOMES.indexOf(home) + 1 : 0)}
      and t.moment = ${sql.lit(TOTAL_MOMENTS.findIndex(([name]) => name === at))}
      and t.day >= r.since and t.day < r.until
    ${isAsked.length > 0 ? sql`where ${and(isAsked)}` : sql``}
    group by 1, 2`;
}

/** Facts `f` that are counted one by one. */
interface Facts {
  relation: Sql;
  where: Sql[];
  weight: 1 | -1;
  /** The label under which they count. */
  label: Sql;
}

const IS_TOTALLED = sql`not exists (select from fact_pending w
  where w.app_key = f.app_key and w.profile_id = f.profile_id and w.purchase_no = f.purchase_no)`;

function listFacts(source: Source, { where }: Entries, { at }: Counted): Facts[] {
  const { query, owner, span } = source;
  const today = todayOf(source);
  const horizon = horizonOf(source);
  const keepsUnrefunded = where.includes('not_refunded');
  /** What the totals have: past days, and of unrefunded facts none that carry a refund, even one that is still to come. */
  const asTotalled = [
    sql`${dayOf(at)} < ${sql.lit(horizon)}`,
    ...(keepsUnrefunded ? [sql`f.refunded_at is null`] : []),
  ];
  const current = { weight: 1, label: currentLabel(source) } as const;
  const pending: Facts = {
    ...current,
    relation: sql`(select f.* from fact_pending w join fact_transaction f using (app_key, profile_id, purchase_no)
      where w.app_key = ${owner.app_key}) f ${pendingLabels(source)}`,
    where: [],
  };
  const retired: Facts = { relation: sql`fact_retired f`, where: asTotalled, weight: -1, label: OWN_LABEL };
  const recent: Facts = {
    ...current,
    relation: sql`fact_transaction f ${pendingLabels(source)}`,
    where: [sql`${dayOf(at)} >= ${sql.lit(horizon)}`, IS_TOTALLED, ...asTotalled.slice(1)],
  };
  const refundToCome: Facts = {
    ...current,
    relation: sql`fact_transaction f ${pendingLabels(source)}`,
    where: [sql`f.refunded_day >= ${today}`, sql`f.refunded_at > ${nowOf(query)}`, IS_TOTALLED],
  };
  return [
    pending,
    retired,
    ...(readsPendingLabels(source) ? relabelled(source, asTotalled) : []),
    ...(span.days.at(-1)! > horizon ? [recent] : []),
    ...(keepsUnrefunded ? [refundToCome] : []),
  ];
}

/** Facts that the totals have under a label that is no longer theirs. */
function relabelled({ owner }: Source, asTotalled: Sql[]): Facts[] {
  const relation = sql`(select f.*, r.attribution_key as current_key
    from profile_attribution r join fact_transaction f using (profile_id)
    where r.app_id = ${owner.app_id} and r.relabel_pending and f.app_key = ${owner.app_key}
      and f.attribution_key <> r.attribution_key) f`;
  const where = [...asTotalled, IS_TOTALLED];
  return [
    { relation, where, weight: -1, label: OWN_LABEL },
    { relation, where, weight: 1, label: sql`f.current_key` },
  ];
}

/** The key under which the totals of this home would have a fact. */
function keyIn(source: Source, entries: Entries, label: Sql): Sql {
  const home = homeOf(source);
  const key = segmentKey(source, entries, label);
  if (!source.query.segmentation || !home || (home as string) === source.query.segmentation.home.column) return key;
  return sql`(select ${sql.ref(home)} from dim_attribution where attribution_key = ${key})`;
}

function factRows(
  source: Source,
  entries: Entries,
  { at, sign, relation, where, weight, label }: Counted & Facts,
): Sql {
  const isStock = entries.until !== undefined;
  const bucket = isStock ? sql`greatest(${bucketOf(source, at)}, 1)` : bucketOf(source, at);
  const inSpan = isStock
    ? [...beforeEnd(source, at), ...(source.span.reachesNow ? [sql`${moment(at)} < ${nowOf(source.query)}`] : [])]
    : [...beforeEnd(source, at), sinceStart(source, at)];
  const factor = sql.lit(sign * weight);
  const columns = AMOUNTS[entries.amount].map(
    (name, i) => sql`, sum(${sql.ref(`f.${name}`)}) * ${factor} as ${sql.ref(`a${i}`)}`,
  );
  return sql`select ${bucket} as bucket, ${keyIn(source, entries, label)} as key, count(*) * ${factor} as n ${sql.join(columns, sql` `)}
    from ${relation} where ${and([...conditions(source, entries, label), ...inSpan, ...where])} group by 1, 2`;
}
