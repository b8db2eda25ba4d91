// The rows of a group of facts: which of them are selected, and how often each combination of values occurs. One
// query sends millions of rows through here, so the code works column by column, in plain loops over scratch arrays,
// and tests a value once per group rather than once per row.
import { CODE_OFFSET, ROWS_PER_GROUP } from '../../facts/column-chunk.ts';

/**
 * A column of a group: its distinct values, which of them can count, and a text with the character of each row's code
 * ('' until it is read).
 */
export interface Column {
  values: readonly string[];
  passes: Uint8Array;
  codes: string;
}

/** A number for each row, taken from a column: `numbers` has the number that a code stands for. */
export interface Numbers {
  codes: Uint16Array;
  /** By code. */
  numbers: Int32Array;
}

/** Reused for every group: new buffers would make gigabytes of garbage. */
const scratch: Buffer[] = [];

/** Returns an array for codes, which is valid until the next group asks for one at the same place. */
export function scratchCodes(place: number, length: number): Uint16Array {
  scratch[place] ??= Buffer.alloc(ROWS_PER_GROUP * Uint16Array.BYTES_PER_ELEMENT);
  return new Uint16Array(scratch[place].buffer, 0, length);
}

/** Returns the characters of a text as an array, in which look-ups take half the time. */
export function readCodes(codes: string, place: number): Uint16Array {
  const read = scratchCodes(place, codes.length);
  scratch[place]!.write(codes, 'utf16le');
  return read;
}

const ALL_FIRST = new Uint16Array(ROWS_PER_GROUP).fill(CODE_OFFSET);

/** Returns the same number for all rows. */
export function constant(number: number): Numbers {
  return { codes: ALL_FIRST, numbers: Int32Array.of(number) };
}

const ALL_ROWS = Int32Array.from({ length: ROWS_PER_GROUP }, (_, row) => row);

/** The rows that pass, in the group that is being scanned. */
const selection = new Int32Array(ROWS_PER_GROUP);

type Tested = Pick<Column, 'passes'> & Pick<Numbers, 'codes'>;

/**
 * Returns the rows that pass in all columns. The result is valid until the rows of another group are selected. The
 * column in which the smallest share of values passes is tested first, as it leaves the fewest rows to the others.
 */
export function selectRows(size: number, columns: Iterable<Tested>): Int32Array {
  const [first, ...others] = [...columns]
    .map((column) => ({ ...column, share: shareOf(column.passes) }))
    .filter(({ share }) => share < 1)
    .sort((one, other) => one.share - other.share);
  if (!first) return ALL_ROWS.subarray(0, size);
  return selection.subarray(0, others.reduce(selectAmong, selectOf(size, first)));
}

function shareOf(passes: Uint8Array): number {
  let passing = 0;
  for (const one of passes) passing += one;
  return passing / passes.length;
}

/** Selects from all rows. Returns how many passed. */
function selectOf(size: number, { passes, codes }: Tested): number {
  let kept = 0;
  for (let row = 0; row < size; row++) {
    selection[kept] = row;
    kept += passes[codes[row]! - CODE_OFFSET]!;
  }
  return kept;
}

/** Selects from the rows that were selected before. Returns how many passed. */
function selectAmong(count: number, { passes, codes }: Tested): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i]!;
    selection[kept] = row;
    kept += passes[codes[row]! - CODE_OFFSET]!;
  }
  return kept;
}

/** A digit of a combination: the numbers of a column, each given by its place among the distinct ones. */
interface Digit {
  codes: Uint16Array;
  /** By code. */
  places: Int32Array;
  size: number;
}

function digitOf({ codes, numbers }: Numbers): Digit {
  const found = new Map<number, number>();
  const places = new Int32Array(numbers.length);
  for (let code = 0; code < numbers.length; code++) {
    const number = numbers[code]!;
    const place = found.get(number) ?? found.size;
    if (place === found.size) found.set(number, place);
    places[code] = place;
  }
  return { codes, places, size: found.size };
}

/** If more combinations are possible, they are counted in a map rather than in an array. */
const MAX_COUNTED = 2_000_000;

/**
 * `combined` has the combination of each selected row, as a number, and `counts` how many rows have that number. For
 * each combination that occurs, `firsts` has its first row and `times` the number of its rows.
 */
const combined = new Int32Array(ROWS_PER_GROUP);
const counts = new Int32Array(MAX_COUNTED);
const firsts = new Int32Array(ROWS_PER_GROUP);
const times = new Int32Array(ROWS_PER_GROUP);

/**
 * Calls `onCombination` with every combination of numbers that occurs in the selected rows, and how many rows have it.
 * The last column should be the one by which rows are sorted, so that the counters of consecutive rows lie close
 * together.
 */
export function countCombined(
  selected: Int32Array,
  columns: readonly Numbers[],
  onCombination: (has: readonly number[], count: number) => void,
): void {
  const digits = columns.map(digitOf).filter(({ size }) => size > 1);
  const possible = digits.reduce((product, { size }) => product * size, 1);
  const different = possible <= MAX_COUNTED ? countInArray(selected, digits) : countInMap(selected, digits);
  const has = columns.map(() => 0);
  for (let i = 0; i < different; i++) {
    const row = firsts[i]!;
    for (let c = 0; c < columns.length; c++) {
      const { codes, numbers } = columns[c]!;
      has[c] = numbers[codes[row]! - CODE_OFFSET]!;
    }
    onCombination(has, times[i]!);
  }
}

function combine(selected: Int32Array, digits: readonly Digit[]): void {
  combined.fill(0, 0, selected.length);
  let factor = 1;
  const scaled = digits.map(({ codes, places, size }) => {
    const parts = places.map((place) => factor * place);
    factor *= size;
    return { codes, parts };
  });
  // Adding two digits at a time takes little longer than adding one.
  for (let i = 0; i + 1 < scaled.length; i += 2) addTwo(selected, scaled[i]!, scaled[i + 1]!);
  if (scaled.length % 2 === 1) addOne(selected, scaled.at(-1)!);
}

/** A digit times its factor. */
interface Scaled {
  codes: Uint16Array;
  /** By code. */
  parts: Int32Array;
}

function addOne(selected: Int32Array, { codes, parts }: Scaled): void {
  for (let i = 0; i < selected.length; i++) combined[i]! += parts[codes[selected[i]!]! - CODE_OFFSET]!;
}

function addTwo(selected: Int32Array, one: Scaled, other: Scaled): void {
  const [codes, otherCodes, parts, otherParts] = [one.codes, other.codes, one.parts, other.parts];
  for (let i = 0; i < selected.length; i++) {
    const row = selected[i]!;
    combined[i]! += parts[codes[row]! - CODE_OFFSET]! + otherParts[otherCodes[row]! - CODE_OFFSET]!;
  }
}

function countInArray(selected: Int32Array, digits: readonly Digit[]): number {
  combine(selected, digits);
  let different = 0;
  for (let i = 0; i < selected.length; i++) {
    if (counts[combined[i]!]!++ === 0) firsts[different++] = i;
  }
  for (let i = 0; i < different; i++) {
    const first = firsts[i]!;
    times[i] = counts[combined[first]!]!;
    counts[combined[first]!] = 0;
    firsts[i] = selected[first]!;
  }
  return different;
}

function countInMap(selected: Int32Array, digits: readonly Digit[]): number {
  const numberOf = (row: number) =>
    digits.reduceRight((number, { codes, places, size }) => number * size + places[codes[row]! - CODE_OFFSET]!, 0);
  const places = new Map<number, number>();
  for (const row of selected) {
    const number = numberOf(row);
    const place = places.get(number) ?? places.size;
    if (place === places.size) {
      places.set(number, place);
      firsts[place] = row;
      times[place] = 0;
    }
    times[place]!++;
  }
  return places.size;
}
