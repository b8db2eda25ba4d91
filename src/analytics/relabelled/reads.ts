// Reads from the database which profiles have a pending label, whose facts have changed meanwhile, and what facts they
// have.
import { type Kysely, sql } from 'kysely';
import { jsonList, listText } from '../../db/lists.ts';
import type { DB } from '../../db/types.ts';
import type { Source } from '../sources.ts';
import {
  AMOUNTS_AT,
  FLAGS,
  FLAGS_AT,
  type ProfileFacts,
  REMEMBERED_AMOUNTS,
  REMEMBERED_DAYS,
  WIDTH,
} from './memory.ts';

/** The most facts that one statement reads. */
export const MAX_FACTS_READ = 40_000;

/** Parallel lists: places in the queue, and the keys of the two labels. */
export interface LabelQueue {
  places: number[];
  earlier: number[];
  later: number[];
}

/** Reads the queue of the app in the order of its places: at most the first `max` of them. */
export async function readLabelQueue(db: Kysely<DB>, { app }: Source, max: number): Promise<LabelQueue> {
  const { rows } = await sql<LabelQueue>`
    select ${jsonList('queue_no', 'places')}, ${jsonList('earlier_key', 'earlier')}, ${jsonList('attribution_key', 'later')}
    from (select * from label_pending where app_key = ${app.app_key} order by queue_no limit ${max}) w`.execute(db);
  return rows[0]!;
}

/**
 * Reads the places of profiles some of whose facts have changed while the label is pending: these facts are pending
 * themselves, or have been totalled again. If it returns `max` places, there may be more.
 */
export async function readChangedPlaces(
  db: Kysely<DB>,
  { app, state: { has } }: Source,
  max: number,
): Promise<Set<number>> {
  const changed = [...(has.pending ? ['fact_pending'] : []), ...(has.retired ? ['fact_retired'] : [])];
  const ofChanged = changed.map(
    (table) => sql`union all
      select w.queue_no from label_pending w where w.app_key = ${app.app_key}
        and w.profile_id in (select profile_id from ${sql.table(table)} where app_key = ${app.app_key})`,
  );
  const { rows } = await sql<{ places: number[] }>`
    select ${jsonList('queue_no', 'places')} from (
      (select queue_no from label_retotalled where app_key = ${app.app_key} limit ${max}) ${sql.join(ofChanged, sql` `)}
    ) u`.execute(db);
  return new Set(rows[0]!.places);
}

/** Parallel lists, by the name of their column. */
export type FactLists = Record<string, (number | null)[]> & { places: number[]; flags: number[] };

/** Reads the facts of the profiles at these places in the queue, in the order of the places. */
async function readLists(db: Kysely<DB>, { app }: Source, places: readonly number[]): Promise<FactLists> {
  const names = [...REMEMBERED_DAYS, ...REMEMBERED_AMOUNTS];
  const flags = FLAGS.map(([, is], bit) => sql`case when ${sql.raw(is)} then ${sql.lit(1 << bit)} else 0 end`);
  const { rows } = await sql<FactLists>`
    select ${sql.join(['places', 'flags', ...names].map((name) => jsonList(name)))}
    from (
      select w.queue_no as places, ${sql.join(flags, sql` + `)} as flags, ${sql.join(names.map((name) => sql.ref(`f.${name}`)))}
      from unnest(${listText(places)}::bigint[]) as requested (queue_no)
      join label_pending w on w.app_key = ${app.app_key} and w.queue_no = requested.queue_no
      join fact_transaction f on f.app_key = w.app_key and f.profile_id = w.profile_id
      order by 1 limit ${MAX_FACTS_READ}
    ) f`.execute(db);
  return rows[0]!;
}

/** Returns, by place, the facts of those requested profiles whose facts were all read. */
export function factsByPlace(lists: FactLists, requested: readonly number[]): Map<number, ProfileFacts> {
  const { places, flags } = lists;
  const days = REMEMBERED_DAYS.map((day) => lists[day]!);
  const amounts = REMEMBERED_AMOUNTS.map((name) => lists[name]!);
  const profiles = new Map<number, ProfileFacts>();
  for (let first = 0, end = 0; first < places.length; first = end) {
    while (places[end] === places[first]) end++;
    const facts = new Float64Array((end - first) * WIDTH);
    let isExact = true;
    for (let row = first; row < end; row++) {
      const at = (row - first) * WIDTH;
      for (const [i, list] of days.entries()) facts[at + i] = list[row] ?? Number.NaN;
      facts[at + FLAGS_AT] = flags[row]!;
      for (const [i, list] of amounts.entries()) {
        facts[at + AMOUNTS_AT + i] = list[row] ?? 0;
        isExact &&= Number.isSafeInteger(facts[at + AMOUNTS_AT + i]);
      }
    }
    profiles.set(places[first]!, isExact ? facts : null);
  }
  if (places.length < MAX_FACTS_READ) {
    for (const place of requested) if (!profiles.has(place)) profiles.set(place, new Float64Array());
  } else {
    // The last profile may have more facts, and so may those after it. One that fills a statement alone always will.
    const last = places.at(-1)!;
    if (profiles.size === 1) profiles.set(last, null);
    else profiles.delete(last);
  }
  return profiles;
}

/** Reads the facts of profiles by their places in the queue. Some are missing if the facts do not fit one statement. */
export async function readFacts(
  db: Kysely<DB>,
  source: Source,
  places: readonly number[],
): Promise<Map<number, ProfileFacts>> {
  return places.length > 0 ? factsByPlace(await readLists(db, source, places), places) : new Map();
}
