// Facts that still carry a label which is no longer theirs. Each is counted twice: taken off the old label and added to
// the new one. Remembered facts arrive as sums; the others are looked up.
import { sql } from 'kysely';
import { listText } from '../../db/lists.ts';
import { AMOUNTS, type Entries, type Moment } from '../entries.ts';
import { countedInOneRead, type Facts, factRows, isTotalKey, type RowForm } from '../fact-rows.ts';
import {
  changedLabels,
  dayOf,
  labelsAt,
  materialized,
  readsPendingLabels,
  type Source,
  type Sql,
  tableOf,
} from '../sources.ts';
import { sumRelabelled } from './sums.ts';

interface Before extends RowForm {
  /** The first day that is left out. */
  horizon: number;
  /** Further conditions on facts that are looked up; remembered ones meet them. */
  where?: readonly Sql[];
}

/** Selects `bucket, key, n, a0 …` of what happened before a day; nothing if no pending label makes a difference. */
export function relabelledBefore(source: Source, entries: Entries, { horizon, where = [], ...form }: Before): Sql[] {
  if (!readsPendingLabels(source)) return [];
  const counted = countedInOneRead(entries);
  const days = sql`${dayOf(counted.at)} < ${sql.lit(horizon)}`;
  const lookedUp = (labels: Sql) =>
    factRows(source, entries, { counted, facts: lookUp(labels, entries, [days, ...where]), form });
  const { relabelled } = source;
  if (!relabelled || entries.of === 'install') return [lookedUp(changedLabels(source))];
  return [
    ...(relabelled.profiles.length > 0 ? [rememberedRows(source, entries, { horizon, ...form })] : []),
    ...(relabelled.others.length > 0 ? [lookedUp(labelsAt(source, relabelled.others))] : []),
  ];
}

/** The same for a day and everything after it. That is little, and the index of the moment finds it. */
export function relabelledSince(source: Source, entries: Entries, day: number): Sql {
  const where = [sql`${dayOf(entries.at)} >= ${sql.lit(day)}`];
  const facts = countedTwice(changedLabels(source), entries, where);
  return factRows(source, entries, { counted: countedInOneRead(entries), facts });
}

function lookUp(labels: Sql, entries: Entries, where: readonly Sql[]): Facts {
  return countedTwice(RARE_MOMENTS.includes(entries.at) ? labels : forcingLookups(labels), entries, where);
}

function countedTwice(labels: Sql, entries: Entries, where: readonly Sql[]): Facts {
  const relation = sql`${labels} w
    join ${tableOf(entries)} f using (profile_id)
    cross join lateral (values (-1, f.attribution_key), (1, w.attribution_key)) as twice (weight, label_key)`;
  return { relation, where, weight: sql`twice.weight`, label: sql`twice.label_key` };
}

/**
 * Moments that few facts have. With 20,000 labels, reading all facts of the span by the index of such a moment took
 * half as long as looking up those of each profile.
 */
const RARE_MOMENTS: readonly Moment[] = ['refunded', 'grace', 'billing_issue'];

/**
 * Makes the planner look up each profile's facts, although it believes that reading the whole span costs less: from an
 * array it expects only ten rows.
 */
function forcingLookups(labels: Sql): Sql {
  return materialized(sql`
    select unnest(array_agg(profile_id)) as profile_id, unnest(array_agg(attribution_key)) as attribution_key from ${labels} w`);
}

function rememberedRows(source: Source, entries: Entries, { horizon, home }: Pick<Before, 'horizon' | 'home'>): Sql {
  const { relabelled, span } = source;
  const by = isTotalKey(source, home) ? 'totalKeys' : 'labelKeys';
  const { buckets, keys, facts, amounts } = sumRelabelled(relabelled!.profiles, entries, {
    edges: span.days,
    horizon,
    by,
  });
  const names = AMOUNTS[entries.amount].map((_, i) => sql`, ${sql.ref(`a${i}`)}`);
  return sql`select bucket, key, n ${sql.join(names, sql` `)}
    from unnest(${listText(buckets)}::integer[], ${listText(keys)}::integer[], ${listText(facts)}::bigint[]
      ${sql.join(
        amounts.map((list) => sql`, ${listText(list)}::numeric[]`),
        sql` `,
      )}) as remembered (bucket, key, n ${sql.join(names, sql` `)})`;
}
