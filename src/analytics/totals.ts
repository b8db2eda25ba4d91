// Entries from the totals instead of fact by fact. Totals hold whole days or months that are past; what they lack or have too much of
// is corrected. Everything is read in one snapshot, so the sum is exactly that of the facts.
import { sql } from 'kysely';
import { GRAINS, TOTAL_HOMES, TOTAL_MOMENTS, type TotalSum } from '../facts/totals-schema.ts';
import { type Counted, correctionRows } from './corrections.ts';
import { AMOUNTS, type Entries, type Moment } from './entries.ts';
import { and, hasValue, type Source, type Sql } from './sources.ts';
import { homeOf, isMonthly, rangesOf } from './total-home.ts';

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

function partsOf(source: Source, entries: Entries, counted: Counted): Sql[] {
  return [pastDays(source, entries, counted), ...correctionRows(source, entries, counted)];
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
    cross join lateral (
      select * from fact_total t where t.app_key = ${owner.app_key} and t.grain = r.grain and t.home = ${sql.lit(home ? TOTAL_HOMES.indexOf(home) + 1 : 0)}
      and t.moment = ${sql.lit(TOTAL_MOMENTS.findIndex(([name]) => name === at))}
      and t.day >= r.since and t.day < r.until
      -- Else it would be a hash join, that holds every range against the days of all years.
      offset 0
    ) t
    ${isAsked.length > 0 ? sql`where ${and(isAsked)}` : sql``}
    group by 1, 2`;
}
