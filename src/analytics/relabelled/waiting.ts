// Which profiles count under another label than their facts carry, in the snapshot of a question, and what facts they have. To look these up
// takes 10 to 14 µs per profile and question, so a process remembers them (docs/decisions/0019).
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../db/types.ts';
import type { Deps } from '../../deps.ts';
import { TOTAL_MOMENTS, type TotalHome } from '../../facts/totals-schema.ts';
import { labelsDiffer, readsPendingLabels, type Source } from '../sources.ts';
import { homeOf } from '../total-home.ts';
import { AMOUNTS_AT, FactMemory, FLAGS, FLAGS_AT, type ProfileFacts, REMEMBERED_AMOUNTS, WIDTH } from './memory.ts';

/** A profile that counts under another label: the keys of the two by which totals have it, and those of the labels. */
export interface RelabelledProfile {
  facts: ProfileFacts;
  earlier: number;
  later: number;
  earlierLabel: number;
  laterLabel: number;
}

export interface Relabelled {
  profiles: readonly RelabelledProfile[];
  /** The places in the queue of those whose facts are to be looked up. */
  others: readonly number[];
}

/** Looked up for one question; those of the others wait for the next. */
const MOST_PROFILES = 2_000;
const MOST_FACTS = 40_000;

interface Waiting {
  first: number | null;
  places: number[];
  earlier: number[];
  later: number[];
  earlier_labels: number[];
  later_labels: number[];
  /** Whether the facts may have changed since they wait. */
  unsettled: boolean[];
}

/** Profiles some of whose facts changed since they wait: they wait for the totals, or were totalled anew. */
function unsettled({ owner, facts: { has } }: Source) {
  const changed = [
    ...(has.pending ? [sql`select profile_id from fact_pending where app_key = ${owner.app_key}`] : []),
    ...(has.retired ? [sql`select profile_id from fact_retired where app_key = ${owner.app_key}`] : []),
  ];
  const retotalled = sql`select queue_no from label_retotalled where app_key = ${owner.app_key}`;
  if (changed.length === 0) return retotalled;
  return sql`${retotalled} union all
    select r.queue_no from (${sql.join(changed, sql` union `)}) c
    join app on app.app_key = ${owner.app_key}
    join profile_attribution r on r.app_id = app.app_id and r.profile_id = c.profile_id
    where r.queue_no is not null`;
}

async function listWaiting(db: Kysely<DB>, source: Source, home: TotalHome): Promise<Waiting> {
  const lists = Object.entries({
    places: 'queue_no',
    earlier: 'earlier',
    later: 'later',
    earlier_labels: 'earlier_label',
    later_labels: 'later_label',
    unsettled: 'is_unsettled',
  }).map(([list, name]) => sql`coalesce(array_to_json(array_agg(${sql.ref(name)})), '[]') as ${sql.ref(list)}`);
  const { rows } = await sql<Waiting>`
    with unsettled (queue_no) as materialized (${unsettled(source)})
    select (select min(queue_no) from label_pending where app_key = ${source.owner.app_key})::float8 as first, ${sql.join(lists)}
    from (
      select w.queue_no, earlier.attribution_key as earlier_label, later.attribution_key as later_label,
        ${sql.ref(`earlier.${home}`)} as earlier, ${sql.ref(`later.${home}`)} as later,
        w.queue_no in (select queue_no from unsettled) as is_unsettled
      from label_pending w
      join dim_attribution later on later.attribution_key = w.attribution_key
      join dim_attribution earlier on earlier.attribution_key = w.earlier_key
      where w.app_key = ${source.owner.app_key} and ${labelsDiffer(source.query)}
    ) w`.execute(db);
  return rows[0]!;
}

type Loaded = Record<string, (number | null)[]> & { places: number[]; flags: number[] };

/** The facts of these places in the queue, those of each side by side. */
async function loadFacts(db: Kysely<DB>, { owner }: Source, places: readonly number[]): Promise<Loaded> {
  const days = TOTAL_MOMENTS.map(([, day]) => day);
  const names = [...days, ...REMEMBERED_AMOUNTS];
  const flags = FLAGS.map(([, is], bit) => sql`case when ${sql.raw(is)} then ${sql.lit(1 << bit)} else 0 end`);
  const list = (name: string) => sql`coalesce(array_to_json(array_agg(${sql.ref(name)})), '[]') as ${sql.ref(name)}`;
  const { rows } = await sql<Loaded>`
    select ${sql.join(['places', 'flags', ...names].map(list))}
    from (
      select w.queue_no as places, ${sql.join(flags, sql` + `)} as flags, ${sql.join(names.map((name) => sql.ref(`f.${name}`)))}
      from unnest(${listText(places)}::bigint[]) as asked (queue_no)
      join label_pending w on w.app_key = ${owner.app_key} and w.queue_no = asked.queue_no
      join fact_transaction f on f.app_key = w.app_key and f.profile_id = w.profile_id
      order by 1 limit ${MOST_FACTS}
    ) f`.execute(db);
  return rows[0]!;
}

/** As PostgreSQL reads an array of numbers; the driver quotes and escapes each. */
export function listText(numbers: readonly (number | bigint)[]): string {
  return `{${numbers.join(',')}}`;
}

/** The facts of each place, of those that are known completely. */
function* eachProfile(loaded: Loaded, asked: readonly number[]): Generator<[place: number, ProfileFacts | 'unfit']> {
  const { places, flags } = loaded;
  const days = TOTAL_MOMENTS.map(([, day]) => loaded[day]!);
  const amounts = REMEMBERED_AMOUNTS.map((name) => loaded[name]!);
  const all = new Float64Array(places.length * WIDTH);
  const unfit = new Set<number>();
  for (let i = 0; i < places.length; i++) {
    const at = i * WIDTH;
    for (let k = 0; k < days.length; k++) all[at + k] = days[k]![i] ?? Number.NaN;
    all[at + FLAGS_AT] = flags[i]!;
    for (let k = 0; k < amounts.length; k++) {
      const amount = amounts[k]![i] ?? 0;
      all[at + AMOUNTS_AT + k] = amount;
      if (!Number.isSafeInteger(amount)) unfit.add(places[i]!);
    }
  }
  // Of the last there may be more, and of those after it.
  const last = places.length === MOST_FACTS ? places.at(-1)! : Number.POSITIVE_INFINITY;
  if (places[0] === last) unfit.add(last);
  const ends = new Map(places.map((place, i) => [place, i + 1]));
  const firsts = new Map(places.toReversed().map((place, i) => [place, places.length - 1 - i]));
  for (const place of asked) {
    if (unfit.has(place)) yield [place, 'unfit'];
    else if (place < last)
      yield [place, all.subarray((firsts.get(place) ?? 0) * WIDTH, (ends.get(place) ?? 0) * WIDTH)];
  }
}

/** Whether what is remembered of facts is all that a question asks for. */
function isRemembered(source: Source): boolean {
  const { query, filters, facts } = source;
  const isOfDays = query.inAppZone && query.dateType === 'purchase_date';
  return facts.usesTotals && isOfDays && filters.length === 0 && readsPendingLabels(source);
}

export type ReadRelabelled = (db: Kysely<DB>, source: Source) => Promise<Relabelled | undefined>;

/** Reads them for a question in its snapshot; nothing where the facts of none are remembered for it. */
export function createRelabelled({ serverRun }: Pick<Deps, 'serverRun'>): ReadRelabelled {
  let kept = { run: serverRun.number, memory: new FactMemory() };

  /** Places in the queue may be given again by a server that lacks the last transactions. */
  function memoryOfRun(): FactMemory {
    if (kept.run !== serverRun.number) kept = { run: serverRun.number, memory: new FactMemory() };
    return kept.memory;
  }

  return async (db, source) => {
    if (!isRemembered(source)) return undefined;
    const memory = memoryOfRun();
    const { app_key } = source.owner;
    const waiting = await listWaiting(db, source, homeOf(source) ?? 'attribution_key');
    const { places } = waiting;
    const known = memory.of(app_key, waiting.first ?? Number.POSITIVE_INFINITY);
    const missing = places.filter((place, i) => !waiting.unsettled[i] && !known.has(place)).slice(0, MOST_PROFILES);
    if (missing.length > 0) {
      const loaded = await loadFacts(db, source, missing);
      for (const [place, facts] of eachProfile(loaded, missing)) memory.add(app_key, place, facts);
    }
    const profiles: RelabelledProfile[] = [];
    const others: number[] = [];
    for (let i = 0; i < places.length; i++) {
      const facts = waiting.unsettled[i] ? undefined : known.get(places[i]!);
      if (facts === undefined || facts === 'unfit') others.push(places[i]!);
      else if (facts.length > 0) {
        profiles.push({
          facts,
          earlier: waiting.earlier[i]!,
          later: waiting.later[i]!,
          earlierLabel: waiting.earlier_labels[i]!,
          laterLabel: waiting.later_labels[i]!,
        });
      }
    }
    return { profiles, others };
  };
}
