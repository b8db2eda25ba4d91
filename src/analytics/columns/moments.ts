// Finds the bucket of a moment for each row of a group: by the day of the moment in the app's zone, by its day and
// quarter of an hour in any other.
import { CODE_OFFSET } from '../../facts/column-chunk.ts';
import { joinQuarter } from '../../facts/quarters.ts';
import { type Numbers, scratchCodes } from './group-rows.ts';

/** Returns the bucket of a day or a quarter, from 0. Anything earlier than the first bucket is counted in it. */
export function bucketAt(edges: readonly number[], at: number): number {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** The same, but anything later than the last bucket is counted in one more. */
export function bucketUntil(edges: readonly number[], at: number): number {
  const last = edges.length - 1;
  return at < edges[last]! ? bucketAt(edges, at) : last;
}

/** The bucket of anything earlier than the first one, if the two are distinguished. */
export const BEFORE = -1;

/** A column as it was read. */
interface Read {
  values: readonly string[];
  codes: Uint16Array;
}

interface Joined {
  days: Read;
  quarters: Read;
  /** Returns a bucket from BEFORE to `last`, never a lower one for a later quarter. */
  bucketOfQuarter: (quarter: number) => number;
  /** Returns the bucket of a day if its quarters make no difference, else undefined. */
  bucketOfDay?: (day: string) => number | undefined;
  last: number;
  /** The place of the resulting codes among the scratch arrays. */
  place: number;
}

/** Returns the buckets of moments whose day and quarter are in two columns. Most days lie within one bucket. */
export function joinBuckets({ days, quarters, bucketOfQuarter, bucketOfDay, last, place }: Joined): Numbers {
  const offsets = quarters.values.filter((value) => value !== '').map(Number);
  const [first, end] = [Math.min(...offsets), Math.max(...offsets)];
  const width = quarters.values.length;
  const table = new Uint16Array(days.values.length * width);
  for (const [code, value] of days.values.entries()) {
    const from = code * width;
    const at = (offset: number) => bucketOfQuarter(joinQuarter(Number(value), offset));
    const known = bucketOfDay?.(value) ?? (at(first) === at(end) ? at(first) : undefined);
    if (known !== undefined) table.fill(known - BEFORE, from, from + width);
    else for (let i = 0; i < width; i++) table[from + i] = at(Number(quarters.values[i])) - BEFORE;
  }
  const codes = scratchCodes(place, days.codes.length);
  for (let row = 0; row < codes.length; row++) {
    const day = days.codes[row]! - CODE_OFFSET;
    codes[row] = table[day * width + quarters.codes[row]! - CODE_OFFSET]! + CODE_OFFSET;
  }
  return { codes, numbers: Int32Array.from({ length: last - BEFORE + 1 }, (_, code) => code + BEFORE) };
}
