// In which bucket the rows of a group have a moment: by its day where the zone is the app's, else by its day and quarter of an hour.
import { CODE_OFFSET } from '../../facts/column-chunk.ts';
import { joinQuarter } from '../../facts/quarters.ts';
import { type Numbers, scratchCodes } from './group-rows.ts';

/** The bucket of a day or a quarter, from 0; what was before the first is in it. */
export function bucketAt(edges: readonly number[], at: number): number {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** The same, but what is after the last bucket is in one more. */
export function bucketUntil(edges: readonly number[], at: number): number {
  const last = edges.length - 1;
  return at < edges[last]! ? bucketAt(edges, at) : last;
}

/** Before the first bucket, where that is told apart. */
export const BEFORE = -1;

/** A column as it was read. */
interface Read {
  values: readonly string[];
  codes: Uint16Array;
}

interface Joined {
  days: Read;
  quarters: Read;
  /** From BEFORE to the last; never less for a later quarter. */
  bucketOfQuarter: (quarter: number) => number;
  /** Of days whose quarters make no difference. */
  bucketOfDay?: (day: string) => number | undefined;
  last: number;
  /** Of the codes. */
  place: number;
}

/** The buckets of moments whose day and quarter are in two columns. Most days are within one bucket. */
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
