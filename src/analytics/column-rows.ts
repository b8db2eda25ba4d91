// The rows of a group of facts: which are selected, and how often which combination of values is there. Pure. Millions of rows pass here for
// one question, so it goes column by column in plain loops over scratch arrays, and asks of a value once per group, not per row.
import { CODE_OFFSET, ROWS_PER_GROUP } from '../facts/column-chunk.ts';

/** A column of a group: its distinct values, which of them can count, and of every row the character of its code; '' before they are read. */
export interface Column {
  values: readonly string[];
  passes: Uint8Array;
  codes: string;
}

/** What rows have in a column, as a number. */
export interface Numbers {
  codes: Uint16Array;
  /** By the code. */
  numbers: Int32Array;
}

/** The same for every group: new ones would be the garbage of gigabytes. */
const scratch: Buffer[] = [];

/** The characters of a text: looked up in an array they take half of the time. Until the next group has its column at this place. */
export function readCodes(codes: string, place: number): Uint16Array {
  scratch[place] ??= Buffer.alloc(ROWS_PER_GROUP * Uint16Array.BYTES_PER_ELEMENT);
  scratch[place].write(codes, 'utf16le');
  return new Uint16Array(scratch[place].buffer, 0, codes.length);
}

const ALL_FIRST = new Uint16Array(ROWS_PER_GROUP).fill(CODE_OFFSET);

/** Where all rows have the same. */
export function constant(number: number): Numbers {
  return { codes: ALL_FIRST, numbers: Int32Array.of(number) };
}

/** Of the group that is being scanned: the rows that count. */
export const rows = new Int32Array(ROWS_PER_GROUP);

/** Puts the rows that pass into `rows`; how many are they? */
export function selectRows(size: number, columns: Iterable<{ passes: Uint8Array; codes: Uint16Array }>): number {
  let count = size;
  for (let i = 0; i < count; i++) rows[i] = i;
  for (const { passes, codes } of columns) {
    if (!passes.includes(0)) continue;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      rows[kept] = row;
      kept += passes[codes[row]! - CODE_OFFSET]!;
    }
    count = kept;
  }
  return count;
}

/** A digit of a combination: what rows have in a column, as the place of that in a list. */
interface Digit {
  codes: Uint16Array;
  /** By the code. */
  places: Int32Array;
  list: Int32Array;
}

function digitOf({ codes, numbers }: Numbers): Digit {
  const found = new Map<number, number>();
  const places = numbers.map((number) => {
    const place = found.get(number) ?? found.size;
    if (place === found.size) found.set(number, place);
    return place;
  });
  return { codes, places, list: Int32Array.from(found.keys()) };
}

/** More combinations are not counted in an array. */
const MOST_COUNTED = 2_000_000;

/** Of each row that counts the number of its combination; the numbers that are there, and how often each. */
const combined = new Int32Array(ROWS_PER_GROUP);
const counts = new Int32Array(MOST_COUNTED);
const found = new Float64Array(ROWS_PER_GROUP);
const times = new Int32Array(ROWS_PER_GROUP);

/** Tells every combination of numbers that the selected rows have, and how many have it. */
export function countCombined(
  count: number,
  columns: readonly Numbers[],
  tell: (has: readonly number[], rows: number) => void,
): void {
  const digits = columns.map(digitOf);
  const possible = digits.reduce((product, { list }) => product * list.length, 1);
  const different = possible <= MOST_COUNTED ? countInArray(count, digits) : countInMap(count, digits);
  const has = digits.map(() => 0);
  for (let i = 0; i < different; i++) {
    let rest = found[i]!;
    for (let d = 0; d < digits.length; d++) {
      const { list } = digits[d]!;
      has[d] = list[rest % list.length]!;
      rest = Math.floor(rest / list.length);
    }
    tell(has, times[i]!);
  }
}

function countInArray(count: number, digits: readonly Digit[]): number {
  combined.fill(0, 0, count);
  let factor = 1;
  for (const { codes, places, list } of digits) {
    if (list.length === 1) continue;
    for (let i = 0; i < count; i++) combined[i]! += factor * places[codes[rows[i]!]! - CODE_OFFSET]!;
    factor *= list.length;
  }
  let different = 0;
  for (let i = 0; i < count; i++) {
    const number = combined[i]!;
    if (counts[number]!++ === 0) found[different++] = number;
  }
  for (let i = 0; i < different; i++) {
    times[i] = counts[found[i]!]!;
    counts[found[i]!] = 0;
  }
  return different;
}

function countInMap(count: number, digits: readonly Digit[]): number {
  const often = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    let number = 0;
    let factor = 1;
    for (const { codes, places, list } of digits) {
      if (list.length > 1) number += factor * places[codes[rows[i]!]! - CODE_OFFSET]!;
      factor *= list.length;
    }
    often.set(number, (often.get(number) ?? 0) + 1);
  }
  let different = 0;
  for (const [number, count] of often) {
    found[different] = number;
    times[different++] = count;
  }
  return different;
}
