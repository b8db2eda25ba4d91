// Facts under a label that is no longer theirs: each counts under both, off the one and onto the other. What is remembered of them arrives as
// sums; the others are looked up.
import { sql } from 'kysely';
import { listText } from '../../db/lists.ts';
import { AMOUNTS, type Entries, type Moment } from '../entries.ts';
import { countOnce, type Facts, factRows, isTotalKey, type RowForm } from '../fact-rows.ts';
import {
  changedLabels,
  dayOf,
  labelsAt,
  onlyOnce,
  readsPendingLabels,
  type Source,
  type Sql,
  tableOf,
} from '../sources.ts';
import { sumRelabelled } from './sums.ts';

interface Before extends RowForm {
  /** The first day that is not asked for. */
  horizon: number;
  /** What else facts must be that are looked up; remembered ones are. */
  where?: readonly Sql[];
}

/** What happened before a day: selects `bucket, key, n, a0 …`; nothing where no label that waits makes a difference. */
export function relabelledBefore(source: Source, entries: Entries, { horizon, where = [], ...form }: Before): Sql[] {
  if (!readsPendingLabels(source)) return [];
  const counted = countOnce(entries);
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

/** The same of what happens on a day or after it, of which there is little: found by the index of the moment. */
export function relabelledSince(source: Source, entries: Entries, day: number): Sql {
  const where = [sql`${dayOf(entries.at)} >= ${sql.lit(day)}`];
  const facts = countedTwice(changedLabels(source), entries, where);
  return factRows(source, entries, { counted: countOnce(entries), facts });
}

function lookUp(labels: Sql, entries: Entries, where: readonly Sql[]): Facts {
  return countedTwice(FEW_HAVE.includes(entries.at) ? labels : asIfFew(labels), entries, where);
}

function countedTwice(labels: Sql, entries: Entries, where: readonly Sql[]): Facts {
  const relation = sql`${labels} w
    join ${tableOf(entries)} f using (profile_id)
    cross join lateral (values (-1, f.attribution_key), (1, w.attribution_key)) as twice (weight, label_key)`;
  return { relation, where, weight: sql`twice.weight`, label: sql`twice.label_key` };
}

/** Moments that few facts have: with 20,000 labels and an index of the moment, reading the facts of the span took half as long. */
const FEW_HAVE: readonly Moment[] = ['refunded', 'grace', 'billing_issue'];

/** Has the planner look up each profile's facts, though it believes that reading the whole span costs less: of an array it expects ten rows. */
function asIfFew(labels: Sql): Sql {
  return onlyOnce(sql`
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
