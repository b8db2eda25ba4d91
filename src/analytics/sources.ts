// The facts as SQL: moments and buckets, keys of dimensions, the conditions of a query. Days are compared if the query
// is in the app's zone, instants if it is in another; both give the same buckets.
import { type RawBuilder, sql } from 'kysely';
import { listText } from '../db/lists.ts';
import type { App } from '../deps.ts';
import { FACT_IS } from '../facts/conditions.ts';
import { appDaysOf } from './app-days.ts';
import type { Span } from './calendar.ts';
import type { Dimension } from './dimensions.ts';
import type { Condition, Entries, Moment } from './entries.ts';
import type { FactsState } from './facts-state.ts';
import { hasValue, type KeyedFilter } from './filter-keys.ts';
import type { Relabelled } from './relabelled/profiles.ts';
import type { ChartQuery } from './request.ts';

export type Sql = RawBuilder<unknown>;

/** A query over one of its spans, in one snapshot. Statements are assembled from it. */
export interface Source {
  query: ChartQuery;
  app: App;
  span: Span;
  state: FactsState;
  /** The filters of the query. */
  filters: readonly KeyedFilter[];
  /** Profiles that count under a label other than the one their facts carry, if their facts are remembered. */
  relabelled?: Relabelled | undefined;
}

/** A query over its main span (0), or over the one it is compared with (1). */
export interface SpanSource extends Source {
  index: 0 | 1;
}

/** A moment of the facts `f`, or `either` of the two moments that `bothMoments` joins to each fact. */
export type AnyMoment = Moment | 'either';

const MOMENTS: Record<AnyMoment, { at: string; day: string }> = {
  installed: { at: 'f.installed_at', day: 'f.installed_day' },
  purchased: { at: 'f.purchased_at', day: 'f.purchased_day' },
  refunded: { at: 'f.refunded_at', day: 'f.refunded_day' },
  renewal_cancelled: { at: 'f.renewal_cancelled_at', day: 'f.renewal_cancelled_day' },
  lapse: { at: 'f.lapse_at', day: 'f.lapse_day' },
  grace: { at: 'f.grace_at', day: 'f.grace_day' },
  billing_issue: { at: 'f.billing_issue_at', day: 'f.billing_issue_day' },
  active_until: { at: 'f.active_until', day: 'f.active_until_day' },
  either: { at: 'either.at', day: 'either.day' },
};

function conditionSql(name: Condition, now: Sql): Sql {
  const is = sql.raw(FACT_IS[name]);
  // A future refund has not happened yet.
  return name === 'not_refunded' ? sql`(${is} or f.refunded_at > ${now})` : is;
}

/** The column of the facts that holds the key of their label. */
export const ATTRIBUTION_COLUMN = 'attribution_key';

/** The start of the year 1, the first there is (Date.UTC takes 1 for 1901). */
const EARLIEST_S = new Date(0).setUTCFullYear(1, 0, 1) / 1000;

export function moment(name: AnyMoment): Sql {
  return sql.ref(MOMENTS[name].at);
}

/** Returns the day of a moment, in the app's zone. */
export function dayOf(name: AnyMoment): Sql {
  return sql.ref(MOMENTS[name].day);
}

/** Joins both moments to each fact `f`, which counts 1 at the first and -1 at the other. */
export function bothMoments(first: Moment, other: Moment): Sql {
  return sql`cross join lateral (values (1, ${moment(first)}, ${dayOf(first)}), (-1, ${moment(other)}, ${dayOf(other)}))
    as either (sign, at, day)`;
}

export function nowOf(query: ChartQuery): Sql {
  return sql`${query.now}::timestamptz`;
}

/** Returns the value of a moment to compare with the edges of the span, and those edges. */
function edgeComparison({ query, span }: Source, name: AnyMoment): { value: Sql; edges: Sql; first: Sql; end: Sql } {
  if (query.inAppZone) {
    const edges = sql`${[...span.days]}::integer[]`;
    const value = dayOf(name);
    return { value, edges, first: sql`${span.days[0]}::integer`, end: sql`${span.days.at(-1)}::integer` };
  }
  const texts = span.instants.map((at) => new Date(Math.max(at, EARLIEST_S) * 1000).toISOString());
  const edges = sql`${texts}::timestamptz[]`;
  return { value: moment(name), edges, first: sql`${texts[0]}::timestamptz`, end: sql`${texts.at(-1)}::timestamptz` };
}

/** Returns the bucket of a moment, from 1: 0 is before the span, and the number of buckets plus one after it. */
export function bucketOf(source: Source, name: AnyMoment): Sql {
  const { value, edges } = edgeComparison(source, name);
  return sql`width_bucket(${value}, ${edges})`;
}

export const OWN_LABEL = sql`f.attribution_key`;

/** Returns the label of a fact `f`: its profile's pending one, joined as `pending`, or else its own. */
export function currentLabel(source: Source): Sql {
  return readsPendingLabels(source) ? sql`coalesce(pending.attribution_key, f.attribution_key)` : OWN_LABEL;
}

/** Returns the key that a fact has for a dimension. */
function keyOf({ home }: Dimension, label: Sql): Sql {
  return home.column === ATTRIBUTION_COLUMN ? label : sql.ref(`f.${home.column}`);
}

/** Returns a relation (key, value) of the values of a dimension; the empty value means none. */
export function segmentValues({ home }: Dimension): Sql {
  if ('codes' in home) {
    const rows = home.codes.map((value, code) => sql`(${sql.lit(code)}, ${sql.lit(value)})`);
    return sql`(values ${sql.join(rows)}) as d (key, value)`;
  }
  const [key, value] = [sql.ref(home.column), sql.ref(home.value)];
  return sql`(select ${key} as key, coalesce(${value}, '') as value from ${sql.table(home.table)}) d`;
}

/** Returns the segment of rows `e` with a key, and the join needed to look it up. */
export function segmentOfKey({ segmentation }: ChartQuery): { value: Sql; join: Sql } {
  if (!segmentation) return { value: sql`null::text`, join: sql`` };
  return { value: sql`d.value`, join: sql`left join ${segmentValues(segmentation)} on d.key = e.key` };
}

/** Returns the dimension by which entries are split: not every segmentation applies to installs. */
export function segmentationOf({ segmentation }: ChartQuery, { of }: Entries): Dimension | undefined {
  return segmentation && (of === 'transaction' || segmentation.ofInstalls) ? segmentation : undefined;
}

export function segmentKey(source: Source, entries: Entries, label = currentLabel(source)): Sql {
  const segmentation = segmentationOf(source.query, entries);
  return segmentation ? sql`${keyOf(segmentation, label)}::integer` : sql`null::integer`;
}

export function listDimensions({ segmentation, filters }: ChartQuery): Dimension[] {
  return [...(segmentation ? [segmentation] : []), ...filters.map(({ dimension }) => dimension)];
}

/** Returns the attributes of labels that the query uses, as columns of dim_attribution. */
export function labelAttributes(query: ChartQuery): string[] {
  return listDimensions(query).flatMap(({ home }) =>
    home.column === ATTRIBUTION_COLUMN && 'value' in home ? [home.value] : [],
  );
}

export function readsLabels({ query }: Source): boolean {
  return labelAttributes(query).length > 0;
}

/** Whether the query uses labels, and some of them are pending: not yet written to the facts. */
export function readsPendingLabels(source: Source): boolean {
  const { state, relabelled } = source;
  return state.has.pendingLabels && readsLabels(source) && relabelled?.places.length !== 0;
}

/**
 * Whether two labels, joined as `later` and `earlier`, differ in what the query uses; if not, facts count as before.
 */
function labelsDiffer(query: ChartQuery): Sql {
  // Not `is distinct from`: if nearly all labels have one status, its statistics make the planner expect no rows.
  const valueIn = (label: string, name: string) => sql`coalesce(${sql.ref(`${label}.${name}`)}, '')`;
  const differ = labelAttributes(query).map((name) => sql`${valueIn('later', name)} <> ${valueIn('earlier', name)}`);
  return sql`(${sql.join(differ, sql` or `)})`;
}

/** Selects `profile_id, attribution_key` of pending labels that differ from the earlier ones. */
export function changedLabels(source: Source): Sql {
  const { query, app, relabelled } = source;
  if (relabelled) return labelsAt(source, relabelled.places);
  return materialized(sql`
    select w.profile_id, w.attribution_key from label_pending w
    join dim_attribution later on later.attribution_key = w.attribution_key
    join dim_attribution earlier on earlier.attribution_key = w.earlier_key
    where w.app_key = ${app.app_key} and ${labelsDiffer(query)}`);
}

/** Selects the pending labels at these places in the queue. */
export function labelsAt({ app }: Source, places: readonly number[]): Sql {
  return materialized(sql`
    select w.profile_id, w.attribution_key from unnest(${listText(places)}::bigint[]) as requested (queue_no)
    join label_pending w on w.app_key = ${app.app_key} and w.queue_no = requested.queue_no`);
}

/** Computes a relation once. A planner that wrongly expects a single joined fact would recompute it for each one. */
export function materialized(relation: Sql): Sql {
  return sql`(with computed as materialized (${relation}) select * from computed)`;
}

/** Joins the pending labels of the facts `f`, if the query needs them. */
export function pendingLabels(source: Source): Sql {
  if (!readsPendingLabels(source)) return sql``;
  return sql`left join ${changedLabels(source)} pending on pending.profile_id = f.profile_id`;
}

export function tableOf({ of }: Pick<Entries, 'of'>): Sql {
  return sql.table(of === 'install' ? 'fact_install' : 'fact_transaction');
}

/** Returns the facts or installs `f`, joined with their pending labels if the query needs them. */
export function labelledFacts(source: Source, entries: Entries): Sql {
  return sql`${tableOf(entries)} f ${pendingLabels(source)}`;
}

export function conditions(source: Source, { where }: Entries, label = currentLabel(source)): Sql[] {
  const { query, app, filters } = source;
  const now = nowOf(query);
  return [
    sql`f.app_key = ${app.app_key}`,
    ...where.map((name) => conditionSql(name, now)),
    ...filters.map((filter) => hasValue(keyOf(filter.dimension, label), filter)),
  ];
}

/** Requires the moment to be before the end of the span, and not after now. */
export function beforeEnd(source: Source, name: AnyMoment): Sql[] {
  const { value, end } = edgeComparison(source, name);
  const inSpan = withDayTest(source, sql`${value} < ${end}`, sql`${dayOf(name)} < ${sql.lit(appDaysOf(source).end)}`);
  return source.span.reachesNow ? [...inSpan, sql`${moment(name)} <= ${nowOf(source.query)}`] : inSpan;
}

/** Requires an opening before now: in the bucket that contains now, a stock is counted just before now. */
export function openedBeforeNow({ span, query }: Source, name: AnyMoment): Sql[] {
  return span.reachesNow ? [sql`${moment(name)} < ${nowOf(query)}`] : [];
}

export function sinceStart(source: Source, name: AnyMoment): Sql[] {
  const { value, first } = edgeComparison(source, name);
  return withDayTest(source, sql`${value} >= ${first}`, sql`${dayOf(name)} >= ${sql.lit(appDaysOf(source).first)}`);
}

/**
 * In a zone other than the app's, tests the day as well: it is indexed, and says nearly as much as the instant. The
 * planner would take the two tests for independent and, for a rare moment, expect hardly any rows. It cannot estimate a
 * `case`.
 */
function withDayTest({ query }: Source, test: Sql, ofDay: Sql): Sql[] {
  return query.inAppZone ? [test] : [ofDay, sql`case when ${test} then true end`];
}

export function and(parts: readonly Sql[]): Sql {
  return sql.join([...parts], sql` and `);
}
