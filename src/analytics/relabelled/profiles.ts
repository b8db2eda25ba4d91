// Finds, in the snapshot of a query, the profiles that count under another label than their facts carry, with these
// facts. A process remembers them (docs/decisions/0019), as looking them up takes 10 to 14 µs per profile and query.
import type { Kysely } from 'kysely';
import { overlapping } from '../../db/overlap.ts';
import type { DB } from '../../db/types.ts';
import type { Deps } from '../../deps.ts';
import { dividesBy } from '../catalogue.ts';
import { ATTRIBUTION_COLUMN, labelAttributes, readsPendingLabels, type Source } from '../sources.ts';
import { homeOf } from '../total-home.ts';
import { LabelMemory } from './labels.ts';
import { FactMemory } from './memory.ts';
import { type LabelQueue, readChangedPlaces, readFacts, readLabelQueue } from './reads.ts';

/** A profile that counts under another label than its facts carry. */
export interface RelabelledProfile {
  facts: Float64Array;
  /** The keys under which totals have the two labels; those of the labels themselves if totals lack the attribute. */
  totalKeys: Keys;
  labelKeys: Keys;
}

export interface Keys {
  earlier: number;
  later: number;
}

export interface Relabelled {
  profiles: readonly RelabelledProfile[];
  /** The places in the queue of those whose facts have to be looked up … */
  others: readonly number[];
  /** … and of all that count under another label. */
  places: readonly number[];
}

/** If this many profiles have a pending label, all are looked up. */
const MAX_QUEUED = 50_000;
/** The most profiles whose facts one query reads into the memory; the rest are left to the next. */
const MAX_READ = 2_000;

/** Whether the remembered facts can answer the query. */
function isRemembered(source: Source): boolean {
  const { query, filters, state } = source;
  const isOfDays = query.inAppZone && query.dateType === 'purchase_date';
  const isSummed = query.chart.entries.some(({ of }) => of === 'transaction') && !dividesBy(query.chart, 'payers');
  return state.usesTotals && isOfDays && isSummed && filters.length === 0 && readsPendingLabels(source);
}

export type ReadRelabelled = (db: Kysely<DB>, source: Source) => Promise<Relabelled | undefined>;

interface Memory {
  run: number;
  facts: FactMemory;
  labels: LabelMemory;
}

/** Returns the one attribute of labels that the query is about, by its name in totals or else in dim_attribution. */
function comparedAttribute(source: Source): { name: string; isTotalled: boolean } {
  const home = homeOf(source);
  if (home && home !== ATTRIBUTION_COLUMN) return { name: home, isTotalled: true };
  return { name: labelAttributes(source.query)[0]!, isTotalled: false };
}

/** A profile whose labels differ in what the query is about, or may differ because one of them is not remembered. */
interface Differing {
  place: number;
  labelKeys: Keys;
  totalKeys: Keys | undefined;
}

function listDiffering({ places, earlier, later }: LabelQueue, labels: LabelMemory, source: Source): Differing[] {
  const { name, isTotalled } = comparedAttribute(source);
  const numbers = labels.numbersOf(name);
  const differing: Differing[] = [];
  for (const [i, place] of places.entries()) {
    const labelKeys = { earlier: earlier[i]!, later: later[i]! };
    const areKnown = labels.isKnown(labelKeys.earlier) && labels.isKnown(labelKeys.later);
    const values = { earlier: numbers[labelKeys.earlier]!, later: numbers[labelKeys.later]! };
    // Under a label with the same value, facts count as before.
    if (areKnown && values.earlier === values.later) continue;
    differing.push({ place, labelKeys, totalKeys: areKnown ? (isTotalled ? values : labelKeys) : undefined });
  }
  return differing;
}

/**
 * Creates a function that reads these profiles for a query, in its snapshot. It returns undefined if the facts of all
 * of them have to be looked up.
 */
export function createRelabelledReader({ serverRun }: Pick<Deps, 'serverRun'>): ReadRelabelled {
  const begin = (): Memory => ({ run: serverRun.number, facts: new FactMemory(), labels: new LabelMemory() });
  let kept = begin();

  /**
   * Each run of the server has a memory of its own, because a server that lost the last transactions may assign the
   * same places in the queue and keys of labels again.
   */
  function memoryOfRun(): Memory {
    if (kept.run !== serverRun.number) kept = begin();
    return kept;
  }

  return async (db, source) => {
    if (!isRemembered(source)) return undefined;
    const { facts: memory, labels } = memoryOfRun();
    const { app_key } = source.app;
    const [queue, changed] = await overlapping(db, (each) => [
      readLabelQueue(each, source, MAX_QUEUED),
      readChangedPlaces(each, source, MAX_QUEUED),
    ]);
    if (queue.places.length >= MAX_QUEUED || changed.size >= MAX_QUEUED) return undefined;
    memory.prepare(app_key, { firstPending: queue.places[0] ?? Number.POSITIVE_INFINITY, now: performance.now() });
    await labels.learn(db, [...queue.earlier, ...queue.later]);

    const differing = listDiffering(queue, labels, source);
    const missing = differing.filter(
      ({ place, totalKeys }) => totalKeys && !changed.has(place) && memory.find(app_key, place) === undefined,
    );
    const toRead = missing.slice(0, Math.min(MAX_READ, memory.room)).map(({ place }) => place);
    const read = await readFacts(db, source, toRead);
    for (const [place, facts] of read) memory.add(app_key, place, facts);

    const profiles: RelabelledProfile[] = [];
    const others: number[] = [];
    for (const { place, labelKeys, totalKeys } of differing) {
      // Other queries may meanwhile have removed it from the memory, or added it.
      const facts = changed.has(place) ? null : (memory.find(app_key, place) ?? read.get(place));
      if (!facts || !totalKeys) others.push(place);
      else if (facts.length > 0) profiles.push({ facts, totalKeys, labelKeys });
    }
    return { profiles, others, places: differing.map(({ place }) => place) };
  };
}
