// The opaque cursor of the feed: the position where the last page ended, as base64url.
import { fromDatabase, parseDatetime } from '../../lib/datetime.ts';

export interface Position {
  created_at: string;
  sequence: string;
}

export function encodeCursor({ created_at, sequence }: Position): string {
  return Buffer.from(`${fromDatabase(created_at)} ${sequence}`).toString('base64url');
}

/** Returns undefined for text that encodeCursor cannot have produced. */
export function decodeCursor(cursor: string): Position | undefined {
  const [datetime = '', sequence = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const created_at = parseDatetime(datetime);
  if (created_at === undefined || !/^\d{1,18}$/.test(sequence) || rest.length > 0) return undefined;
  return { created_at, sequence };
}
