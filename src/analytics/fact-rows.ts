// Sums facts that are counted one by one, whatever relation they come from, into rows by bucket and key.
import { sql } from 'kysely';
import type { TotalHome } from '../facts/totals-schema.ts';
import { AMOUNTS, type Entries } from './entries.ts';
import {
  type AnyMoment,
  and,
  beforeEnd,
  bothMoments,
  bucketOf,
  conditions,
  currentLabel,
  labelledFacts,
  OWN_LABEL,
  openedBeforeNow,
  type Source,
  type Sql,
  segmentKey,
  sinceStart,
  tableOf,
} from './sources.ts';

/** A moment at which facts count. For a stock, openings count 1 and closings -1. */
export interface Counted {
  at: AnyMoment;
  sign: Sql;
}

/** Lists the moments at which entries count. */
export function listCounted({ at, until }: Entries): Counted[] {
  return [{ at, sign: sql`1` }, ...(until ? [{ at: until, sign: sql`-1` } as const] : [])];
}

/** Like `listCounted`, but for facts that are read once and counted at each of their moments. */
export function countedInOneRead({ at, until }: Entries): Counted {
  return until ? { at: 'either', sign: sql`either.sign` } : { at, sign: sql`1` };
}

/** Facts `f` that are counted one by one. */
export interface Facts {
  relation: Sql;
  where: readonly Sql[];
  /** 1, or -1 if the facts are subtracted. */
  weight: Sql;
  /** The label under which they count. */
  label: Sql;
}

/** Returns facts under the label that they carry. */
export function asWritten(of: Entries['of'], where: readonly Sql[]): Facts {
  return { relation: sql`${tableOf({ of })} f`, where, weight: sql`1`, label: OWN_LABEL };
}

/** Returns facts under the label of their profile, even if it has not been written to them yet. */
export function asLabelled(source: Source, entries: Entries, where: readonly Sql[]): Facts {
  return { relation: labelledFacts(source, entries), where, weight: sql`1`, label: currentLabel(source) };
}

/** How rows are split, in addition to bucket and segment. */
export interface RowForm {
  /** The column that the totals are split by. */
  home?: TotalHome | undefined;
  /** Whether each profile gets rows of its own, with its id. */
  byProfile?: boolean;
}

/**
 * Whether totals have a fact under a key other than its own: those by an attribute of labels use a key that stands for
 * the value of the attribute.
 */
export function isTotalKey({ query: { segmentation } }: Source, home: RowForm['home']): home is TotalHome {
  return segmentation !== null && home !== undefined && (home as string) !== segmentation.home.column;
}

/** Returns the key under which a fact counts, and the join needed to look it up. */
function keyIn(source: Source, key: Sql, home: RowForm['home']): { key: Sql; join: Sql } {
  if (!isTotalKey(source, home)) return { key, join: sql`` };
  return {
    key: sql.ref(`label.${home}`),
    join: sql`left join dim_attribution label on label.attribution_key = ${key}`,
  };
}

/** Matches facts whose moment is in the span; for a stock, also before it. */
function inSpan(source: Source, { until }: Entries, at: AnyMoment): Sql[] {
  if (!until) return [...beforeEnd(source, at), ...sinceStart(source, at)];
  return [...beforeEnd(source, at), ...openedBeforeNow(source, at)];
}

interface RowSpec {
  counted: Counted;
  facts: Facts;
  form?: RowForm;
}

/** Selects `bucket, key, n, a0 …` of the facts. */
export function factRows(source: Source, entries: Entries, { counted, facts, form = {} }: RowSpec): Sql {
  const { until, amount } = entries;
  const { at, sign } = counted;
  const { relation, where, weight, label } = facts;
  const { home, byProfile } = form;
  const bucket = until ? sql`greatest(${bucketOf(source, at)}, 1)` : bucketOf(source, at);
  const { key, join } = keyIn(source, segmentKey(source, entries, label), home);
  const factor = sql`${weight} * ${sign}`;
  const sums = AMOUNTS[amount].map((name, i) => sql`, sum(${sql.ref(`f.${name}`)} * ${factor}) as ${sql.ref(`a${i}`)}`);
  const moments = until && at === 'either' ? bothMoments(entries.at, until) : sql``;
  return sql`select ${bucket} as bucket, ${key} as key, sum(${factor}) as n ${sql.join(sums, sql` `)}
    ${byProfile ? sql`, f.profile_id` : sql``}
    from ${relation} ${moments} ${join}
    where ${and([...conditions(source, entries, label), ...inSpan(source, entries, at), ...where])}
    group by 1, 2 ${byProfile ? sql`, f.profile_id` : sql``}`;
}
