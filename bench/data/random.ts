// Pseudo-random numbers that are the same in every run. Every profile has a sequence of its own, so that any part of
// the data can be made without the rest.

export interface Random {
  /** From 0 up to but not including 1. */
  next: () => number;
  /** A whole number from 0 up to but not including `count`. */
  below: (count: number) => number;
  chance: (probability: number) => boolean;
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** Returns the sequence for a seed and an index (mulberry32). */
export function randomOf(seed: number, index: number): Random {
  let state = mix(mix(seed) ^ index);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { next, below: (count) => Math.floor(next() * count), chance: (probability) => next() < probability };
}

/** Returns a UUID, always the same one for a seed and an index. */
export function uuidOf(seed: number, index: number): string {
  const random = randomOf(seed, index);
  const hex = (digits: number) =>
    random
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(6)}${hex(6)}`;
}

/** Returns a function that draws items by weight. */
export function createPicker<T>(
  items: readonly T[],
  weightOf: (item: T, rank: number) => number,
): (random: Random) => T {
  const sums: number[] = [];
  let total = 0;
  for (const [rank, item] of items.entries()) {
    total += weightOf(item, rank);
    sums.push(total);
  }
  return (random) => {
    const wanted = random.next() * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) > wanted) high = middle;
      else low = middle + 1;
    }
    return items[low] as T;
  };
}

/** Returns the weight of a rank in a long tail. */
export function zipf(_item: unknown, rank: number): number {
  return 1 / (rank + 1);
}
