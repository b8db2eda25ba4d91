// The facts of profiles whose label waits, remembered from one question to the next: what of them charts without filters count. Pure.
import { FACT_IS } from '../../facts/conditions.ts';
import { TOTAL_MOMENTS } from '../../facts/totals-schema.ts';
import { AMOUNTS, type Condition } from '../entries.ts';

/** What a fact must be, in SQL; the place in the list is its bit. */
export const FLAGS = Object.entries(FACT_IS) as [Condition, string][];
export const REMEMBERED_AMOUNTS = [...AMOUNTS.price, ...AMOUNTS.monthly];

/** Of a fact: its days, NaN for none, then its flags as bits, then its amounts. */
export const FLAGS_AT = TOTAL_MOMENTS.length;
export const AMOUNTS_AT = FLAGS_AT + 1;
export const WIDTH = AMOUNTS_AT + REMEMBERED_AMOUNTS.length;

/** The facts of a profile, one after the other. */
export type ProfileFacts = Float64Array;

/** All at once: 30 MB. */
const MOST_FACTS = 250_000;

/** Of an app, by the place in the queue: those of a place never change, unless the database says so. */
type Remembered = Map<number, ProfileFacts | 'unfit'>;

export class FactMemory {
  /** By the key of the app, that of which a question was asked last at the end. */
  readonly #apps = new Map<number, Remembered>();
  #facts = 0;

  /** What is remembered of an app, of which it has just been asked; without what was settled, as it stands before the first that waits. */
  of(appKey: number, firstWaiting: number): ReadonlyMap<number, ProfileFacts | 'unfit'> {
    const remembered = this.#apps.get(appKey) ?? new Map();
    this.#apps.delete(appKey);
    this.#apps.set(appKey, remembered);
    for (const place of remembered.keys()) if (place < firstWaiting) this.#forget(remembered, place);
    return remembered;
  }

  /** Remembers the facts of a profile, at the expense of other apps, if there is room. */
  add(appKey: number, place: number, facts: ProfileFacts | 'unfit'): void {
    for (const other of this.#apps.keys()) {
      if (this.#hasRoomFor(facts) || other === appKey) break;
      this.#forgetApp(other);
    }
    const remembered = this.#apps.get(appKey);
    if (!remembered || remembered.has(place) || !this.#hasRoomFor(facts)) return;
    remembered.set(place, facts);
    this.#facts += countOf(facts);
  }

  #hasRoomFor(facts: ProfileFacts | 'unfit'): boolean {
    return this.#facts + countOf(facts) <= MOST_FACTS;
  }

  #forgetApp(appKey: number): void {
    const remembered = this.#apps.get(appKey)!;
    for (const place of remembered.keys()) this.#forget(remembered, place);
    this.#apps.delete(appKey);
  }

  #forget(remembered: Remembered, place: number): void {
    this.#facts -= countOf(remembered.get(place)!);
    remembered.delete(place);
  }
}

/** A profile without facts takes memory, too. */
function countOf(facts: ProfileFacts | 'unfit'): number {
  return facts === 'unfit' ? 1 : Math.max(facts.length / WIDTH, 1);
}
