// What is kept of the facts, totals or columns, lacks some and has others as they were: these are counted fact by fact, and added or
// taken off.
import { sql } from 'kysely';
import { isIn } from '../facts/columns.ts';
import type { TotalHome } from '../facts/totals-schema.ts';
import { todayIn } from './calendar.ts';
import { AMOUNTS, type Entries, type Moment } from './entries.ts';
import { type DayRange, rangesBetween, rangesOfMonths } from './month-ranges.ts';
import {
  and,
  beforeEnd,
  bucketOf,
  conditions,
  currentLabel,
  dayOf,
  moment,
  nowOf,
  OWN_LABEL,
  pendingLabels,
  pendingRecords,
  readsLabels,
  readsPendingLabels,
  type Source,
  type Sql,
  segmentKey,
  sinceStart,
  tableOf,
} from './sources.ts';

/** A moment at which facts count; of a stock, openings count 1 and closings -1. */
export interface Counted {
  at: Moment;
  sign: 1 | -1;
}

/** What is corrected. */
export interface Kept {
  /** The first day that it does not have. */
  horizon: number;
  /** The column by which totals are split. */
  home?: TotalHome | null | undefined;
  /** The months of purchase whose facts columns have, as far as they can count. */
  months?: readonly number[];
  /** Whether the corrections of every profile stand for themselves, with its id. */
  byProfile?: boolean;
}

/** At which moments entries count. */
export function listCounted({ at, until }: Entries): Counted[] {
  return [{ at, sign: 1 }, ...(until ? [{ at: until, sign: -1 } as const] : [])];
}

/** Selects `bucket, key, n, a0 …`: pending facts, later days, refunds to come, retired images, moved labels; for columns more. */
export function correctionRows(source: Source, entries: Entries, counted: Counted, kept: Kept): Sql[] {
  const totalled = asKept(entries, counted, kept);
  const { has } = source.facts;
  return [
    ...(has.pending ? [pending(source)] : []),
    ...(has.retired ? [retired(totalled, kept)] : []),
    ...(has.moved && readsLabels(source) ? [moved(totalled, kept)] : []),
    ...(readsPendingLabels(source)
      ? [relabelled(source, 'transaction', [totalled.days, ...totalled.refunds, ...notPending(source)])]
      : []),
    ...(source.span.days.at(-1)! > kept.horizon ? [recent(source, counted, kept, totalled)] : []),
    ...(has.refundsToCome && entries.where.includes('not_refunded') ? [refundToCome(source)] : []),
    ...(kept.months && has.changes ? [changes(totalled)] : []),
    ...(kept.months ? otherMonths(source, entries, kept.months, totalled) : []),
  ].map((facts) => factRows(source, entries, { ...counted, ...facts, ...kept }));
}

/** Facts `f` that are counted one by one. */
export interface Facts {
  relation: Sql;
  where: readonly Sql[];
  /** 1, or -1 where they are taken off. */
  weight: Sql;
  /** The label under which they count. */
  label: Sql;
}

function notPending({ facts }: Source): Sql[] {
  return facts.has.pending ? [sql`not ${isIn('fact_pending')}`] : [];
}

/** Of what is kept: past days, and of unrefunded facts none that carry a refund, even one that is still to come. */
interface Totalled {
  days: Sql;
  refunds: Sql[];
}

function asKept({ where }: Entries, { at }: Counted, { horizon }: Kept): Totalled {
  return {
    days: sql`${dayOf(at)} < ${sql.lit(horizon)}`,
    refunds: where.includes('not_refunded') ? [sql`f.refunded_at is null`] : [],
  };
}

function pending(source: Source): Facts {
  // Looked up one by one: a merge join, that the planner takes to end early, reads all facts where few of them pass the filters.
  const relation = sql`(select f.* from fact_pending w cross join lateral (
      select * from fact_transaction f
      where f.app_key = w.app_key and f.profile_id = w.profile_id and f.purchase_no = w.purchase_no offset 0) f
    where w.app_key = ${source.owner.app_key}) f ${pendingLabels(source)}`;
  return { relation, where: [], weight: sql`1`, label: currentLabel(source) };
}

function retired(totalled: Totalled, kept: Kept): Facts {
  return { relation: sql`fact_retired f`, where: ofKept(totalled, kept), weight: sql`-1`, label: OWN_LABEL };
}

/** Facts that were totalled under another label than they carry now. */
function moved(totalled: Totalled, kept: Kept): Facts {
  return { relation: sql`fact_moved f`, where: ofKept(totalled, kept), weight: sql`f.sign`, label: OWN_LABEL };
}

function ofKept({ days, refunds }: Totalled, { months }: Kept): Sql[] {
  return [days, ...refunds, ...(months ? [isInRanges(dayOf('purchased'), rangesOfMonths(months))] : [])];
}

/** Facts under the label that they carry. */
export function asWritten(of: Entries['of'], where: readonly Sql[]): Facts {
  return { relation: sql`${tableOf({ of })} f`, where, weight: sql`1`, label: OWN_LABEL };
}

/** Facts under a label that is no longer theirs: each counts under both, off the one and onto the other. */
export function relabelled({ owner }: Source, of: Entries['of'], where: readonly Sql[]): Facts {
  const relation = sql`${pendingRecords(owner)} r join ${tableOf({ of })} f using (profile_id)
    cross join lateral (values (-1, f.attribution_key), (1, r.attribution_key)) as moved (weight, label_key)`;
  const moved = [sql`f.attribution_key <> r.attribution_key`, ...where];
  return { relation, where: moved, weight: sql`moved.weight`, label: sql`moved.label_key` };
}

function recent(source: Source, { at }: Counted, { horizon }: Kept, { refunds }: Totalled): Facts {
  const relation = sql`fact_transaction f ${pendingLabels(source)}`;
  const where = [sql`${dayOf(at)} >= ${sql.lit(horizon)}`, ...notPending(source), ...refunds];
  return { relation, where, weight: sql`1`, label: currentLabel(source) };
}

function refundToCome(source: Source): Facts {
  const { zone, now } = source.query;
  const relation = sql`fact_transaction f ${pendingLabels(source)}`;
  const where = [
    sql`f.refunded_day >= ${sql.lit(todayIn(zone, now))}`,
    sql`f.refunded_at > ${nowOf(source.query)}`,
    ...notPending(source),
  ];
  return { relation, where, weight: sql`1`, label: currentLabel(source) };
}

/** What was added to the totals, and taken off them, after the columns were made. */
function changes({ days, refunds }: Totalled): Facts {
  return { relation: sql`fact_column_change f`, where: [days, ...refunds], weight: sql`f.sign`, label: OWN_LABEL };
}

/** Facts that were purchased in months without columns. */
function otherMonths(
  source: Source,
  { until }: Entries,
  months: readonly number[],
  { days, refunds }: Totalled,
): Facts[] {
  const ranges = rangesWithout(source, months, until !== undefined);
  if (ranges.length === 0) return [];
  const where = [days, ...refunds, ...notPending(source), isInRanges(dayOf('purchased'), ranges)];
  return [asWritten('transaction', where)];
}

/** Days that these months do not have, as far as they are of the span; or before it, for stocks. */
export function rangesWithout({ span }: Source, months: readonly number[], isStock: boolean): DayRange[] {
  const [first, end] = [span.days[0]!, span.days.at(-1)!];
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

/** The key under which what is kept has a fact, and what is joined to know it: totals by a value of labels have a key of that value. */
function keyIn(source: Source, entries: Entries, label: Sql, home: Kept['home']): { key: Sql; join: Sql } {
  const key = segmentKey(source, entries, label);
  const { segmentation } = source.query;
  if (!segmentation || !home || (home as string) === segmentation.home.column) return { key, join: sql`` };
  return {
    key: sql.ref(`label.${home}`),
    join: sql`left join dim_attribution label on label.attribution_key = ${key}`,
  };
}

/** Selects `bucket, key, n, a0 …` of them. */
export function factRows(
  source: Source,
  entries: Entries,
  { at, sign, relation, where, weight, label, home, byProfile }: Counted & Facts & Pick<Kept, 'home' | 'byProfile'>,
): Sql {
  const isStock = entries.until !== undefined;
  const bucket = isStock ? sql`greatest(${bucketOf(source, at)}, 1)` : bucketOf(source, at);
  const inSpan = isStock
    ? [...beforeEnd(source, at), ...(source.span.reachesNow ? [sql`${moment(at)} < ${nowOf(source.query)}`] : [])]
    : [...beforeEnd(source, at), sinceStart(source, at)];
  const { key, join } = keyIn(source, entries, label, home);
  const factor = sql.lit(sign);
  const columns = AMOUNTS[entries.amount].map(
    (name, i) => sql`, sum(${sql.ref(`f.${name}`)} * ${weight}) * ${factor} as ${sql.ref(`a${i}`)}`,
  );
  return sql`select ${bucket} as bucket, ${key} as key, sum(${weight}) * ${factor} as n ${sql.join(columns, sql` `)}
    ${byProfile ? sql`, f.profile_id` : sql``}
    from ${relation} ${join} where ${and([...conditions(source, entries, label), ...inSpan, ...where])}
    group by 1, 2 ${byProfile ? sql`, f.profile_id` : sql``}`;
}
