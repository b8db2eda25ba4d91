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

/** Values without commas, at most ROWS_PER_GROUP of them. */
export function encodeColumn(values: readonly string[]): ColumnChunk {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const distinct = [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
  const characters = new Map(distinct.map((value, code) => [value, String.fromCharCode(code + CODE_OFFSET)]));
  return { dictionary: distinct.join(','), codes: values.map((value) => characters.get(value)).join('') };
}

/** Whole numbers below ROWS_PER_GROUP that are nearly all different: they are their own codes. */
export function encodePlaces(values: readonly string[]): ColumnChunk {
  return { dictionary: '', codes: values.map((value) => String.fromCharCode(Number(value) + CODE_OFFSET)).join('') };
}
