// NDJSON: one JSON value per line. Blank lines are skipped.
import { isUtf8 } from 'node:buffer';
import { type Entry, NOT_UTF8, TOO_LONG, unreadableEntry } from './entry.ts';
import type { Line } from './lines.ts';
import { unwrapReject } from './rejects.ts';

function readEntry({ number: line, bytes }: Line): Entry | undefined {
  if (!bytes) return unreadableEntry(line, TOO_LONG, bytes);
  if (!isUtf8(bytes)) return unreadableEntry(line, NOT_UTF8, bytes);
  const text = bytes.toString();
  if (text.trim() === '') return undefined;
  try {
    return unwrapReject(line, JSON.parse(text));
  } catch {
    return unreadableEntry(line, 'The line is not JSON.', bytes);
  }
}

export async function* readNdjson(groups: AsyncIterable<Line[]>): AsyncGenerator<Entry[]> {
  for await (const lines of groups) {
    yield lines.map(readEntry).filter((entry) => entry !== undefined);
  }
}
