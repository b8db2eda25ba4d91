// Facts under a label that is no longer theirs: each counts under both, off the one and onto the other. What is remembered of them arrives as
// sums; the others are looked up.
import { sql } from 'kysely';
import { AMOUNTS, type Entries, type Moment } from '../entries.ts';
import { countOnce, type Facts, factRows, type RowForm } from '../fact-rows.ts';
import { ATTRIBUTION_COLUMN, changedLabels, dayOf, onlyOnce, type Source, type Sql, tableOf } from '../sources.ts';
import { type KeysOf, sumMoved } from './sums.ts';
import { listText } from './waiting.ts';

interface Asked extends RowForm {
  /** What else facts must be that are looked up. */
  where: readonly Sql[];
  /** The first day that is not asked for. */
  horizon: number;
}

/** Selects `bucket, key, n, a0 …`. */
export function relabelledRows(source: Source, entries: Entries, { where, horizon, ...form }: Asked): Sql[] {
  const lookedUp = (labels: Sql) =>
    factRows(source, entries, { ...countOnce(entries), ...lookUp(labels, entries, where), ...form });
  const { relabelled } = source;
  if (!relabelled || form.byProfile || entries.of === 'install') return [lookedUp(changedLabels(source))];
  return [
    ...(relabelled.profiles.length > 0 ? [movedRows(source, entries, { horizon, ...form })] : []),
    ...(relabelled.others.length > 0 ? [lookedUp(labelsAt(source, relabelled.others))] : []),
  ];
}

/** The same of what happened on a day or after it, of which there is little: found by the index of the moment. */
export function relabelledSince(source: Source, entries: Entries, day: number): Sql {
  const where = [sql`${dayOf(entries.at)} >= ${sql.lit(day)}`];
  const facts = countedTwice(changedLabels(source), entries, where);
  return factRows(source, entries, { ...countOnce(entries), ...facts });
}

function labelsAt({ owner }: Source, places: readonly number[]): Sql {
  return sql`(select profile_id, attribution_key from label_pending
    where app_key = ${owner.app_key} and queue_no = any(${listText(places)}::bigint[]))`;
}

function lookUp(labels: Sql, entries: Entries, where: readonly Sql[]): Facts {
  return countedTwice(FEW_HAVE.includes(entries.at) ? labels : asIfFew(labels), entries, where);
}

function countedTwice(labels: Sql, entries: Entries, where: readonly Sql[]): Facts {
  const relation = sql`${labels} w
    join ${tableOf(entries)} f using (profile_id)
    cross join lateral (values (-1, f.attribution_key), (1, w.attribution_key)) as moved (weight, label_key)`;
  return { relation, where, weight: sql`moved.weight`, label: sql`moved.label_key` };
}

/** Moments that few facts have: with 20,000 labels and an index of the moment, reading the facts of the span took half as long. */
const FEW_HAVE: readonly Moment[] = ['refunded', 'grace', 'billing_issue'];

/** Has the planner look up each profile's facts, though it believes that reading the whole span costs less: of an array it expects ten rows. */
function asIfFew(labels: Sql): Sql {
  return onlyOnce(sql`
    select unnest(array_agg(profile_id)) as profile_id, unnest(array_agg(attribution_key)) as attribution_key from ${labels} w`);
}

const byHome: KeysOf = ({ earlier, later }) => ({ earlier, later });
const byLabel: KeysOf = ({ earlierLabel, laterLabel }) => ({ earlier: earlierLabel, later: laterLabel });

function movedRows(
  { relabelled, span }: Source,
  entries: Entries,
  { horizon, home }: Pick<Asked, 'horizon' | 'home'>,
): Sql {
  const keysOf = home && home !== ATTRIBUTION_COLUMN ? byHome : byLabel;
  const { buckets, keys, facts, amounts } = sumMoved(relabelled!.profiles, entries, {
    edges: span.days,
    horizon,
    keysOf,
  });
  const names = AMOUNTS[entries.amount].map((_, i) => sql`, ${sql.ref(`a${i}`)}`);
  return sql`select bucket, key, n ${sql.join(names, sql` `)}
    from unnest(${listText(buckets)}::integer[], ${listText(keys)}::integer[], ${listText(facts)}::bigint[]
      ${sql.join(
        amounts.map((list) => sql`, ${listText(list)}::bigint[]`),
        sql` `,
      )}) as moved (bucket, key, n ${sql.join(names, sql` `)})`;
}
