// One record of a file as it was read, before it is checked.

/** A record that could not be read. */
export interface FaultyEntry {
  line: number;
  fault: string;
  text: string;
}

export interface ReadEntry {
  line: number;
  value: unknown;
}

export type Entry = ReadEntry | FaultyEntry;

/** How much of an unreadable record goes into the rejects file. */
const KEPT_CHARACTERS = 200;

export function unreadableEntry(line: number, fault: string, bytes: Buffer | undefined): FaultyEntry {
  const beginning = (bytes ?? Buffer.alloc(0)).subarray(0, 4 * KEPT_CHARACTERS).toString();
  return { line, fault, text: beginning.slice(0, KEPT_CHARACTERS).toWellFormed() };
}

export const TOO_LONG = 'The record is longer than 1 MiB.';
export const NOT_UTF8 = 'The record is not UTF-8 text.';
