// Remembers, from one query to the next, the facts of profiles whose label is pending: only what charts without filters
// count. Pure.
import { FACT_IS } from '../../facts/conditions.ts';
import { TOTAL_MOMENTS } from '../../facts/totals-schema.ts';
import { AMOUNTS, type Condition } from '../entries.ts';

/** The conditions that a fact can meet, in SQL. The place in the list is the number of the bit. */
export const FLAGS = Object.entries(FACT_IS) as [Condition, string][];
export const REMEMBERED_DAYS = TOTAL_MOMENTS.map(([, day]) => day);
export const REMEMBERED_AMOUNTS = [...AMOUNTS.price, ...AMOUNTS.monthly];

/** A fact is a row of numbers: its days, NaN for none, then its flags as bits, then its amounts. */
export const FLAGS_AT = REMEMBERED_DAYS.length;
export const AMOUNTS_AT = FLAGS_AT + 1;
export const WIDTH = AMOUNTS_AT + REMEMBERED_AMOUNTS.length;

/** The facts of a profile, one after the other; null if they cannot be remembered. */
export type ProfileFacts = Float64Array | null;

/** The most facts remembered for all apps together: 48 MB. A profile itself takes as much as two facts. */
const MAX_FACTS = 400_000;
const PROFILE_OVERHEAD = 2;

/** An app that has not been queried for this long makes room for others. */
const EVICT_AFTER_MS = 300_000;

interface AppFacts {
  /** By a profile's place in the queue. Its facts never change unless the database says so (docs/decisions/0019). */
  profiles: Map<number, ProfileFacts>;
  queriedAt: number;
}

export class FactMemory {
  readonly #apps = new Map<number, AppFacts>();
  #room = MAX_FACTS;

  /** How many more facts there is room for. */
  get room(): number {
    return this.#room;
  }

  find(appKey: number, place: number): ProfileFacts | undefined {
    return this.#apps.get(appKey)?.profiles.get(place);
  }

  /**
   * Prepares for a query of an app; `now` is in milliseconds. Forgets profiles whose label is no longer pending (places
   * are given in order and, with few exceptions, freed in that order), and apps that have not been queried for long.
   */
  prepare(appKey: number, { firstPending, now }: { firstPending: number; now: number }): void {
    const own = this.#apps.get(appKey) ?? { profiles: new Map(), queriedAt: now };
    own.queriedAt = now;
    this.#apps.set(appKey, own);
    for (const place of own.profiles.keys()) if (place < firstPending) this.#forget(own, place);
    for (const [other, theirs] of this.#apps) {
      if (now - theirs.queriedAt < EVICT_AFTER_MS) continue;
      for (const place of theirs.profiles.keys()) this.#forget(theirs, place);
      this.#apps.delete(other);
    }
  }

  /** Remembers the facts of a profile, if there is room. */
  add(appKey: number, place: number, facts: ProfileFacts): void {
    const profiles = this.#apps.get(appKey)?.profiles;
    if (!profiles || profiles.has(place) || sizeOf(facts) > this.#room) return;
    profiles.set(place, facts);
    this.#room -= sizeOf(facts);
  }

  #forget({ profiles }: AppFacts, place: number): void {
    this.#room += sizeOf(profiles.get(place) ?? null);
    profiles.delete(place);
  }
}

function sizeOf(facts: ProfileFacts): number {
  return PROFILE_OVERHEAD + (facts?.length ?? 0) / WIDTH;
}
