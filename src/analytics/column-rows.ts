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

const ALL_ROWS = Int32Array.from({ length: ROWS_PER_GROUP }, (_, row) => row);

/** Of the group that is being scanned: the rows that count. */
export const rows = new Int32Array(ROWS_PER_GROUP);

/** Puts the rows that pass into `rows`; how many are they? */
export function selectRows(size: number, columns: Iterable<{ passes: Uint8Array; codes: Uint16Array }>): number {
  let count = size;
  rows.set(ALL_ROWS);
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

/** A digit of a combination: what rows have in a column, as the place of that among what is different. */
interface Digit {
  codes: Uint16Array;
  /** By the code. */
  places: Int32Array;
  size: number;
}

function digitOf({ codes, numbers }: Numbers): Digit {
  const found = new Map<number, number>();
  const places = numbers.map((number) => {
    const place = found.get(number) ?? found.size;
    if (place === found.size) found.set(number, place);
    return place;
  });
  return { codes, places, size: found.size };
}

/** More combinations are not counted in an array. */
const MOST_COUNTED = 2_000_000;

/** Of each row that counts the number of its combination; the first rows of those that are there, and how often each is. */
const combined = new Float64Array(ROWS_PER_GROUP);
const counts = new Int32Array(MOST_COUNTED);
const firsts = new Int32Array(ROWS_PER_GROUP);
const times = new Int32Array(ROWS_PER_GROUP);

/**
 * Tells every combination of numbers that the selected rows have, and how many have it. The last column should be the one by which rows are
 * in order: then what is counted one after the other lies close together.
 */
export function countCombined(
  count: number,
  columns: readonly Numbers[],
  tell: (has: readonly number[], rows: number) => void,
): void {
  const digits = columns.map(digitOf).filter(({ size }) => size > 1);
  const possible = digits.reduce((product, { size }) => product * size, 1);
  combine(count, digits);
  const different = possible <= MOST_COUNTED ? countInArray(count) : countInMap(count);
  const has = columns.map(() => 0);
  for (let i = 0; i < different; i++) {
    const row = firsts[i]!;
    for (let c = 0; c < columns.length; c++) {
      const { codes, numbers } = columns[c]!;
      has[c] = numbers[codes[row]! - CODE_OFFSET]!;
    }
    tell(has, times[i]!);
  }
}

function combine(count: number, digits: readonly Digit[]): void {
  combined.fill(0, 0, count);
  let factor = 1;
  for (const { codes, places, size } of digits) {
    for (let i = 0; i < count; i++) combined[i]! += factor * places[codes[rows[i]!]! - CODE_OFFSET]!;
    factor *= size;
  }
}

function countInArray(count: number): number {
  let different = 0;
  for (let i = 0; i < count; i++) {
    if (counts[combined[i]!]!++ === 0) firsts[different++] = i;
  }
  for (let i = 0; i < different; i++) {
    const first = firsts[i]!;
    times[i] = counts[combined[first]!]!;
    counts[combined[first]!] = 0;
    firsts[i] = rows[first]!;
  }
  return different;
}

function countInMap(count: number): number {
  const places = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const number = combined[i]!;
    const place = places.get(number) ?? places.size;
    if (place === places.size) {
      places.set(number, place);
      firsts[place] = rows[i]!;
      times[place] = 0;
    }
    times[place]!++;
  }
  return places.size;
}
