// Long work on many items, done in slices: between them the event loop turns and other requests are answered.
import { setImmediate } from 'node:timers/promises';

/** This many simple items take a few milliseconds. */
export const SLICE = 2_000;

/** Lets other pending work, above all requests, run before the caller continues. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}

/** Does `work` on each item in order, pausing after every `size` items. */
export async function inSlices<T>(
  items: readonly T[],
  size: number,
  work: (item: T, index: number) => void,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % size === 0) await yieldToEventLoop();
    work(item, index);
  }
}

/**
 * Yields one item per turn of the event loop, however fast they are consumed: otherwise a stream whose buffer never
 * fills would be written in a single turn.
 */
export async function* inTurns<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) {
    yield item;
    await yieldToEventLoop();
  }
}

/** Returns the items in the order that `sort` gives: sorts runs of `size` in one go, then merges them. */
export async function sortInSlices<T>(
  items: readonly T[],
  size: number,
  compare: (a: T, b: T) => number,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += size) {
    if (from > 0) await yieldToEventLoop();
    runs.push(items.slice(from, from + size).sort(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await mergeInSlices([runs[i]!, runs[i + 1] ?? []], size, compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeInSlices<T>(
  [one, other]: readonly [T[], T[]],
  size: number,
  compare: (a: T, b: T) => number,
): Promise<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (merged.length < one.length + other.length) {
    if (merged.length > 0 && merged.length % size === 0) await yieldToEventLoop();
    const isOne = j === other.length || (i < one.length && compare(one[i]!, other[j]!) <= 0);
    merged.push(isOne ? one[i++]! : other[j++]!);
  }
  return merged;
}
