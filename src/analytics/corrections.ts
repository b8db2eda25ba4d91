// Totals and columns lag behind the facts: they lack some, and hold others in an earlier state. The statements here
// count those facts one by one, to be added or subtracted.
import { sql } from 'kysely';
import { FACT_IS } from '../facts/conditions.ts';
import { isIn } from '../facts/retire.ts';
import { appDaysOf, appToday } from './app-days.ts';
import type { Entries } from './entries.ts';
import {
  asLabelled,
  asWritten,
  type Counted,
  countedInOneRead,
  type Facts,
  factRows,
  listCounted,
  type RowForm,
} from './fact-rows.ts';
import { type DayRange, rangesBetween, rangesOfMonths } from './month-ranges.ts';
import { relabelledBefore } from './relabelled/rows.ts';
import {
  and,
  currentLabel,
  dayOf,
  nowOf,
  OWN_LABEL,
  pendingLabels,
  readsLabels,
  type Source,
  type Sql,
} from './sources.ts';

/** The totals or the columns, which are to be corrected. */
export interface Baseline extends RowForm {
  /** The first day that is not read from it: today, or the first of this month for totals kept by month alone. */
  horizon: number;
  /** For columns: the months, of purchase or of install, that they have and that can count. */
  months?: readonly number[];
}

/**
 * Selects `bucket, key, n, a0 …` of pending facts, later days, future refunds, retired images and changed labels; for
 * columns also of their changes and of months that they lack.
 */
export function correctionRows(source: Source, entries: Entries, baseline: Baseline): Sql[] {
  const counted = countedInOneRead(entries);
  const contained = containedIn(entries, counted, baseline);
  const openConditions = stillOpen(source, entries, baseline);
  const readOnce = factsReadOnce(source, entries, { baseline, contained });
  // Later days are found by an index on the moment, so each moment is selected separately.
  const later = appDaysOf(source).end > baseline.horizon ? listCounted(entries) : [];
  const totalledConditions = [...contained.refunds, ...notPending(source), ...openConditions];
  return [
    ...readOnce.map(({ where, ...facts }) =>
      factRows(source, entries, { counted, facts: { ...facts, where: [...where, ...openConditions] }, form: baseline }),
    ),
    ...relabelledBefore(source, entries, { ...baseline, where: totalledConditions }),
    ...later.map((each) =>
      factRows(source, entries, {
        counted: each,
        facts: laterFacts(source, entries, { ...baseline, ...contained, at: each.at }),
        form: baseline,
      }),
    ),
  ];
}

/**
 * For a stock, excludes facts that closed before both the span and the horizon: the baseline has their opening as well
 * as their closing, so they make no difference.
 */
function stillOpen(source: Source, { until }: Entries, { horizon }: Baseline): Sql[] {
  return until ? [sql`(${dayOf(until)} >= ${sql.lit(Math.min(appDaysOf(source).first, horizon))}) is not false`] : [];
}

function factsReadOnce(
  source: Source,
  entries: Entries,
  { baseline, contained }: { baseline: Baseline; contained: Contained },
): Facts[] {
  const { has } = source.state;
  const { months } = baseline;
  return [
    ...(has.pending ? [pending(source)] : []),
    ...(has.retired ? [retired(contained, months)] : []),
    ...(has.moved && readsLabels(source) ? [moved(contained, months)] : []),
    ...(has.futureRefunds && entries.where.includes('not_refunded') ? [futureRefunds(source, entries)] : []),
    ...(months && has.changes ? [changes(contained)] : []),
    ...(months ? otherMonths(source, entries, { ...contained, months }) : []),
  ];
}

function notPending({ state }: Source): Sql[] {
  return state.has.pending ? [sql`not ${isIn('fact_pending')}`] : [];
}

/**
 * What totals and columns contain: past days only. A fact with a refund date, even a future one, counts as refunded.
 */
interface Contained {
  days: Sql;
  refunds: Sql[];
}

function containedIn({ where }: Entries, { at }: Counted, { horizon }: Baseline): Contained {
  return {
    days: sql`${dayOf(at)} < ${sql.lit(horizon)}`,
    refunds: where.includes('not_refunded') ? [sql.raw(FACT_IS.not_refunded)] : [],
  };
}

function pending(source: Source): Facts {
  // Looks the facts up one by one. The planner expects a merge join to end early, but it would read all facts if few of
  // them pass the filters.
  const relation = sql`(select f.* from fact_pending w cross join lateral (
      select * from fact_transaction f
      where f.app_key = w.app_key and f.profile_id = w.profile_id and f.purchase_no = w.purchase_no offset 0) f
    where w.app_key = ${source.app.app_key}) f ${pendingLabels(source)}`;
  return { relation, where: [], weight: sql`1`, label: currentLabel(source) };
}

function retired(contained: Contained, months: Baseline['months']): Facts {
  return {
    relation: sql`fact_retired f`,
    where: containedConditions(contained, months),
    weight: sql`-1`,
    label: OWN_LABEL,
  };
}

/** Facts that were totalled under a label other than the one they carry now. */
function moved(contained: Contained, months: Baseline['months']): Facts {
  return {
    relation: sql`fact_moved f`,
    where: containedConditions(contained, months),
    weight: sql`f.sign`,
    label: OWN_LABEL,
  };
}

function containedConditions({ days, refunds }: Contained, months: Baseline['months']): Sql[] {
  return [days, ...refunds, ...(months ? [isInRanges(dayOf('purchased'), rangesOfMonths(months))] : [])];
}

function laterFacts(
  source: Source,
  entries: Entries,
  { at, horizon, refunds }: Pick<Counted, 'at'> & Baseline & Contained,
): Facts {
  const where = [sql`${dayOf(at)} >= ${sql.lit(horizon)}`, ...notPending(source), ...refunds];
  return asLabelled(source, entries, where);
}

function futureRefunds(source: Source, entries: Entries): Facts {
  return asLabelled(source, entries, [
    sql`f.refunded_day >= ${sql.lit(appToday(source.query))}`,
    sql`f.refunded_at > ${nowOf(source.query)}`,
    ...notPending(source),
  ]);
}

/** Facts that were added to the totals, or taken off them, after the columns were written. */
function changes({ days, refunds }: Contained): Facts {
  return { relation: sql`fact_column_change f`, where: [days, ...refunds], weight: sql`f.sign`, label: OWN_LABEL };
}

/** Facts purchased in months without columns. */
function otherMonths(
  source: Source,
  { until }: Entries,
  { days, refunds, months }: Contained & { months: readonly number[] },
): Facts[] {
  const ranges = rangesWithout(source, months, until !== undefined);
  if (ranges.length === 0) return [];
  const where = [days, ...refunds, ...notPending(source), isInRanges(dayOf('purchased'), ranges)];
  return [asWritten('transaction', where)];
}

/** Returns the ranges of days outside these months that overlap the span; for stocks, also those before it. */
export function rangesWithout(source: Source, months: readonly number[], isStock: boolean): DayRange[] {
  const { first, end } = appDaysOf(source);
  return rangesBetween(rangesOfMonths(months)).filter(
    ([from, to]) => (from === null || from < end) && (to === null || isStock || to > first),
  );
}

export function isInRanges(day: Sql, ranges: readonly DayRange[]): Sql {
  const tests = ranges.map(([from, to]) =>
    and([
      ...(from === null ? [] : [sql`${day} >= ${sql.lit(from)}`]),
      ...(to === null ? [] : [sql`${day} < ${sql.lit(to)}`]),
    ]),
  );
  return sql`(${sql.join(tests, sql` or `)})`;
}
