// Reads the rows of a query in batches.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from './types.ts';

/** Yields up to `batchSize` rows at a time, by a cursor of the transaction, which can have only one of these open. */
export async function* readByCursor<Row>(
  trx: Kysely<DB>,
  query: RawBuilder<Row>,
  batchSize: number,
): AsyncGenerator<Row[]> {
  await sql`declare read_by_cursor no scroll cursor for ${query}`.execute(trx);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(batchSize)} from read_by_cursor`.execute(trx);
    if (rows.length === 0) break;
    yield rows;
  }
  await sql`close read_by_cursor`.execute(trx);
}
