// Numbers the segments of a query: the values of the dimension that it is split by. Several keys may have the same
// value.
import { type Kysely, sql } from 'kysely';
import { overlapping } from '../db/overlap.ts';
import type { DB } from '../db/types.ts';
import type { Dimension } from './dimensions.ts';
import type { ChartQuery } from './request.ts';
import { segmentValues } from './sources.ts';

/** The number of facts that are in no segment and count only in the total. */
export const NO_SEGMENT = -1;

export interface Segments {
  /** Indexed by number. */
  values: readonly string[];
  segmentOf: (key: number | null) => number;
}

/**
 * The most keys that are held in memory; if there are more, the database groups by segment. All apps share their
 * labels, and anybody with a public key can make more.
 */
export const MAX_KEYS = 200_000;
/** This many keys arrive at a time; other requests are answered in between. */
const KEYS_AT_ONCE = 10_000;

interface KeyOfValue {
  key: number;
  value: string;
}

/**
 * Reads all keys; undefined if there are too many to hold. Keys are assigned in sequence, so the highest tells how many
 * there are.
 */
async function readKeys(db: Kysely<DB>, segmentation: Dimension): Promise<KeyOfValue[] | undefined> {
  const values = segmentValues(segmentation);
  const { rows } = await sql<{ highest: number | null }>`select max(key) as highest from ${values}`.execute(db);
  const highest = rows[0]?.highest ?? 0;
  if (highest > MAX_KEYS) return undefined;
  const pages = await overlapping(db, (each) =>
    Array.from({ length: Math.ceil((highest + 1) / KEYS_AT_ONCE) }, (_, i) => {
      const from = i * KEYS_AT_ONCE;
      return sql<KeyOfValue>`
        select key, value from ${values} where key >= ${from} and key < ${from + KEYS_AT_ONCE}`.execute(each);
    }),
  );
  return pages.flatMap(({ rows: keys }) => keys);
}

/** Numbers the segments; undefined if there are too many keys. */
export async function numberSegments(
  db: Kysely<DB>,
  { segmentation }: Pick<ChartQuery, 'segmentation'>,
): Promise<Segments | undefined> {
  if (!segmentation) return { values: [], segmentOf: () => NO_SEGMENT };
  const keys = await readKeys(db, segmentation);
  if (!keys) return undefined;
  const numbers = new Map<string, number>();
  /** Segment numbers, indexed by key: read for every value of every group of facts. */
  const byKey = new Int32Array(keys.reduce((most, { key }) => Math.max(most, key), 0) + 1).fill(NO_SEGMENT);
  for (const { key, value } of keys) {
    const number = numbers.get(value) ?? numbers.size;
    numbers.set(value, number);
    byKey[key] = number;
  }
  const segmentOf = (key: number | null) => (key === null ? NO_SEGMENT : (byKey[key] ?? NO_SEGMENT));
  return { values: [...numbers.keys()], segmentOf };
}
