// What the totals lack, and what they still have of facts that changed: counted fact by fact, and added or taken off.
import { sql } from 'kysely';
import { todayIn } from './calendar.ts';
import { AMOUNTS, type Entries, type Moment } from './entries.ts';
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
  readsPendingLabels,
  type Source,
  type Sql,
  segmentKey,
  sinceStart,
} from './sources.ts';
import { homeOf, horizonOf } from './total-home.ts';

/** A moment at which facts count; of a stock, openings count 1 and closings -1. */
export interface Counted {
  at: Moment;
  sign: 1 | -1;
}

/** Selects `bucket, key, n, a0 …`, as the totals do: pending facts, later days, refunds to come, retired images, moved labels. */
export function correctionRows(source: Source, entries: Entries, counted: Counted): Sql[] {
  return listFacts(source, entries, counted).map((part) => factRows(source, entries, { ...counted, ...part }));
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
  const today = sql.lit(todayIn(query.zone, query.now));
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
