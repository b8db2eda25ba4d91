// Long work on many items, in slices between which the event loop turns and other requests are answered.
import { setImmediate } from 'node:timers/promises';

/** So many simple items take some milliseconds. */
export const SLICE = 2_000;

/** Has what else waits done, other requests above all, before the work goes on. */
export function giveWay(): Promise<void> {
  return setImmediate();
}

/** Does `work` with each item in order; `size` of them are done without a pause. */
export async function inSlices<T>(items: readonly T[], size: number, work: (item: T) => void): Promise<void> {
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % size === 0) await giveWay();
    work(item);
  }
}

/** The items as they come, however fast they are taken: a stream that is never full would be written in one turn of the event loop. */
export async function* inTurns<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) {
    yield item;
    await giveWay();
  }
}

/** The items in their order, as `sort` has them: runs of `size` sorted at once, then merged. */
export async function sortInSlices<T>(
  items: readonly T[],
  size: number,
  compare: (a: T, b: T) => number,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += size) {
    if (from > 0) await giveWay();
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
    if (merged.length > 0 && merged.length % size === 0) await giveWay();
    const isOne = j === other.length || (i < one.length && compare(one[i]!, other[j]!) <= 0);
    merged.push(isOne ? one[i++]! : other[j++]!);
  }
  return merged;
}
