// Segments by number: the values of the dimension that a question is split by. Several keys may have the same value.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { ChartQuery } from './request.ts';
import { segmentValues } from './sources.ts';

/** The number of what is in no segment: it counts in the total alone. */
export const NO_SEGMENT = -1;

export interface Segments {
  /** By number. */
  values: readonly string[];
  segmentOf: (key: number | null) => number;
}

export async function numberSegments(db: Kysely<DB>, { segmentation }: ChartQuery): Promise<Segments> {
  if (!segmentation) return { values: [], segmentOf: () => NO_SEGMENT };
  const { rows } = await sql<{ key: number; value: string }>`
    select key, value from ${segmentValues(segmentation)}`.execute(db);
  const numbers = new Map<string, number>();
  /** By key: asked for every value of every group of facts. */
  const byKey = new Int32Array(rows.reduce((most, { key }) => Math.max(most, key), 0) + 1).fill(NO_SEGMENT);
  for (const { key, value } of rows) {
    const number = numbers.get(value) ?? numbers.size;
    numbers.set(value, number);
    byKey[key] = number;
  }
  const segmentOf = (key: number | null) => (key === null ? NO_SEGMENT : (byKey[key] ?? NO_SEGMENT));
  return { values: [...numbers.keys()], segmentOf };
}
