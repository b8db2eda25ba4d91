// The format of a column chunk: a dictionary of the distinct values, most frequent first, and a text with one character
// per row that says which value the row has. It is text because the driver reads results as text; with up to 127
// values, a row costs one byte on disk and on the wire.

/** Few enough rows that no code reaches the code points of surrogates, which a text must not contain. */
export const ROWS_PER_GROUP = 50_000;

/** Profiles are numbered. A number is kept as a page, which has this many numbers, and a place on that page. */
export const PAGE_SIZE = 32_768;

/** Added to a row's code to get its character, because a text cannot contain character 0. */
export const CODE_OFFSET = 1;

export interface ColumnChunk {
  /** Values, separated by commas. */
  dictionary: string;
  codes: string;
}

/** Returns the text that these UTF-16 code units spell. */
function textOf(units: Uint16Array): string {
  return Buffer.from(units.buffer).toString('utf16le');
}

/** Encodes at most ROWS_PER_GROUP values, none of which may contain a comma. */
export function encodeColumn(values: readonly string[]): ColumnChunk {
  // Values are numbered in order of appearance, with one look-up per row. Codes replace the numbers once it is known
  // which values are frequent.
  const numbers = new Map<string, number>();
  const counts: number[] = [];
  const rows = new Uint16Array(values.length);
  for (let row = 0; row < values.length; row++) {
    let number = numbers.get(values[row]!);
    if (number === undefined) {
      number = counts.push(0) - 1;
      numbers.set(values[row]!, number);
    }
    counts[number]!++;
    rows[row] = number;
  }
  const distinct = [...numbers].sort(([, a], [, b]) => counts[b]! - counts[a]!);
  const units = new Uint16Array(distinct.length);
  for (const [code, [, number]] of distinct.entries()) units[number] = code + CODE_OFFSET;
  for (let row = 0; row < rows.length; row++) rows[row] = units[rows[row]!]!;
  return { dictionary: distinct.map(([value]) => value).join(','), codes: textOf(rows) };
}

/** Encodes whole numbers below ROWS_PER_GROUP that are nearly all different: each is its own code. */
export function encodePlaces(values: readonly string[]): ColumnChunk {
  const units = new Uint16Array(values.length);
  for (let row = 0; row < units.length; row++) units[row] = Number(values[row]) + CODE_OFFSET;
  return { dictionary: '', codes: textOf(units) };
}
