// The format of a column chunk: a dictionary of the distinct values, the most frequent first, and a text with a character per row that
// says which it is. Text, as the driver reads results as text: up to 127 values cost a byte per row on disk and on the way.

/** So few rows that no code reaches the code points of surrogates, which a text must not contain. */
export const ROWS_PER_GROUP = 50_000;

/** Profiles are numbered; a number is kept as its page and its place there. */
export const PAGE = 32_768;

/** The character of a row is its code and this: a text has no character 0. */
export const CODE_OFFSET = 1;

export interface ColumnChunk {
  /** Values, separated by commas. */
  dictionary: string;
  codes: string;
}

/** A text of these code units. */
function textOf(units: Uint16Array): string {
  return Buffer.from(units.buffer).toString('utf16le');
}

/** Values without commas, at most ROWS_PER_GROUP of them. */
export function encodeColumn(values: readonly string[]): ColumnChunk {
  // Numbered as they are met: one look-up per row. The numbers are replaced by codes when it is known which values are frequent.
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

/** Whole numbers below ROWS_PER_GROUP that are nearly all different: they are their own codes. */
export function encodePlaces(values: readonly string[]): ColumnChunk {
  const units = new Uint16Array(values.length);
  for (let row = 0; row < units.length; row++) units[row] = Number(values[row]) + CODE_OFFSET;
  return { dictionary: '', codes: textOf(units) };
}
