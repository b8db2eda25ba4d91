// Repeatable randomness: the same seed gives the same draws. Pure.

export interface Random {
  /** From 0 up to, but not including, 1. */
  next: () => number;
  chance: (probability: number) => boolean;
  /** A number between the two. */
  between: (min: number, max: number) => number;
  /** One of the entries, chosen by weight. */
  pick: <T extends { weight: number }>(entries: readonly T[]) => T;
}

/** Mulberry32: 32 bits of state, good enough to make a crowd. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    chance: (probability) => next() < probability,
    between: (min, max) => min + next() * (max - min),
    pick: (entries) => {
      let left = next() * entries.reduce((sum, { weight }) => sum + weight, 0);
      for (const entry of entries) {
        left -= entry.weight;
        if (left < 0) return entry;
      }
      return entries.at(-1)!;
    },
  };
}
