// Reads entries from the totals instead of fact by fact. Totals hold whole past days or months; what they lack or have
// in excess is corrected. Everything is read in one snapshot, so the sum is exactly that of the facts.
import { sql } from 'kysely';
import { GRAINS, homeCode, momentCode, type TotalSum } from '../facts/totals-schema.ts';
import { correctionRows } from './corrections.ts';
import { AMOUNTS, type Entries, type Moment } from './entries.ts';
import { type Counted, listCounted } from './fact-rows.ts';
import { hasValue } from './filter-keys.ts';
import { and, listDimensions, type Source, type Sql } from './sources.ts';
import { homeOf, isMonthly, rangesOf, totalsHorizon } from './total-home.ts';

/** The count of a total that covers exactly the facts with these conditions, by their names in alphabetical order. */
const COUNTS: Readonly<Record<string, TotalSum>> = {
  '': 'n',
  priced: 'n_priced',
  trial: 'n_trial',
  paid: 'n_paid',
  first_paid: 'n_first_paid',
  one_time: 'n_one_time',
  'not_refunded paid': 'n_kept',
  'adds_monthly not_refunded paid': 'n_monthly',
};

function countOf({ where }: Entries): TotalSum | undefined {
  return COUNTS[where.toSorted().join(' ')];
}

/** Whether the totals can answer this: in the app's days, and by at most one column that they are split by. */
export function hasTotals(source: Source, entries: Entries): boolean {
  const { of, until } = entries;
  const { inAppZone, dateType } = source.query;
  const isEligible = source.state.usesTotals && inAppZone && dateType === 'purchase_date' && of === 'transaction';
  const areSplitAlike = listDimensions(source.query).length === 0 || homeOf(source) !== undefined;
  return isEligible && countOf(entries) !== undefined && areSplitAlike && isKept(source, until);
}

/** Whether the totals have the days of the query. Totals kept by month alone have only those of whole months. */
function isKept(source: Source, until: Moment | undefined): boolean {
  return !isMonthly(source) || rangesOf(source, until).every(({ grain }) => grain === 'month');
}

/**
 * Returns the parts that make up the entries, with columns `bucket, key, n, a0 …`: whole past days from the totals, and
 * their corrections.
 */
export function totalParts(source: Source, entries: Entries): Sql[] {
  const baseline = { horizon: totalsHorizon(source), home: homeOf(source) };
  const pastDays = listCounted(entries).map((counted) => totalRows(source, entries, counted));
  return [...pastDays, ...correctionRows(source, entries, baseline)];
}

function totalRows(source: Source, entries: Entries, { at, sign }: Counted): Sql {
  const { query, app, filters } = source;
  const ranges = rangesOf(source, entries.until);
  const home = homeOf(source);
  const key = query.segmentation ? sql`t.key` : sql`null::integer`;
  const conditions = filters.map((filter) => hasValue(sql`t.key`, filter));
  const sum = (name: TotalSum) => sql`sum(${sql.ref(`t.${name}`)}) * ${sign}`;
  const columns = AMOUNTS[entries.amount].map((name, i) => sql`, ${sum(name)} as ${sql.ref(`a${i}`)}`);
  return sql`select r.bucket, ${key} as key, ${sum(countOf(entries)!)} as n ${sql.join(columns, sql` `)}
    from unnest(${ranges.map(({ bucket }) => bucket)}::integer[],
      ${ranges.map(({ grain }) => GRAINS.indexOf(grain))}::smallint[],
      ${ranges.map(({ from }) => from)}::integer[], ${ranges.map(({ to }) => to)}::integer[])
      as r (bucket, grain, since, until)
    cross join lateral (
      select * from fact_total t where t.app_key = ${app.app_key} and t.grain = r.grain and t.home = ${sql.lit(homeCode(home))}
      and t.moment = ${sql.lit(momentCode(at))}
      and t.day >= r.since and t.day < r.until
      -- Prevents a hash join, which would compare every range with the days of all years.
      offset 0
    ) t
    ${conditions.length > 0 ? sql`where ${and(conditions)}` : sql``}
    group by 1, 2`;
}
