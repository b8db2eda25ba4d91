// Looks for an order of overlapping operations that explains every answer. Each operation takes effect at one moment
// between its request and its answer, as the model of test/model describes. Profiles in answers carry timestamps, which
// never decrease from one state to the next; these answers are put in that order. Those without one (deletions,
// refusals, attributions) are placed by search.
import { isDeepStrictEqual } from 'node:util';
import { perform, type World } from '../model/model.ts';
import type { Operation, Outcome } from '../model/operations.ts';

export interface Performed {
  operation: Operation;
  outcome: Outcome;
  startedAt: number;
  endedAt: number;
  /** That of the profile in the answer; 0 without one. */
  timestamp: number;
}

const MAX_STEPS = 20_000;

/** Returns the world after the operation, the same one if nothing changed; undefined if the model answers otherwise. */
function next(world: World, { operation, outcome }: Performed): World | undefined {
  const changed = structuredClone(world);
  const expected = perform(changed, operation, outcome.view?.profile_id ?? '');
  // No answer shows an attribution, so it would only make the search longer.
  for (const profile of Object.values(changed.profiles)) profile.campaign = null;
  if (!isDeepStrictEqual(expected, outcome)) return undefined;
  return isDeepStrictEqual(changed, world) ? world : changed;
}

/** Returns those that may be next: they began before any other ended, and no other has an earlier timestamp. */
function candidates(rest: readonly Performed[]): Performed[] {
  const firstEnd = Math.min(...rest.map(({ endedAt }) => endedAt));
  const earliest = Math.min(...rest.map(({ timestamp }) => timestamp || Number.POSITIVE_INFINITY));
  return rest
    .filter(({ startedAt, timestamp }) => startedAt <= firstEnd && timestamp <= earliest)
    .sort((a, b) => b.timestamp - a.timestamp || a.endedAt - b.endedAt);
}

/** Takes operations that change nothing as soon as they fit, which can never be wrong. */
function takeIdle(world: World, rest: readonly Performed[]): Performed[] {
  let left = [...rest];
  for (;;) {
    const idle = new Set(candidates(left).filter((one) => next(world, one) === world));
    if (idle.size === 0) return left;
    left = left.filter((one) => !idle.has(one));
  }
}

/** Whether a profile is deleted that later answers still show. */
function isDeadEnd({ profiles }: World, rest: readonly Performed[]): boolean {
  return rest.some(({ outcome }) => profiles[outcome.view?.profile_id ?? '']?.isDeleted);
}

/** Returns the world at the end of an order that explains all answers, or where the longest attempt got stuck. */
export function explain(start: World, performed: readonly Performed[]): { world: World } | { stuckAt: Performed[] } {
  const numbers = new Map(performed.map((one, index) => [one, index]));
  const tried = new Set<string>();
  let furthest: Performed[] = [...performed];

  function search(world: World, all: readonly Performed[]): World | undefined {
    const rest = takeIdle(world, all);
    if (rest.length === 0) return world;
    if (rest.length < furthest.length) furthest = rest;
    const key = JSON.stringify([rest.map((one) => numbers.get(one)), world]);
    if (tried.has(key)) return undefined;
    tried.add(key);
    if (tried.size > MAX_STEPS) throw new Error(`no order was found in ${MAX_STEPS} steps`);
    for (const one of candidates(rest)) {
      const after = next(world, one);
      const others = rest.filter((other) => other !== one);
      const found = after && !isDeadEnd(after, others) && search(after, others);
      if (found) return found;
    }
    return undefined;
  }

  const world = search(start, performed);
  return world ? { world } : { stuckAt: candidates(furthest) };
}
