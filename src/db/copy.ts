// COPY … FROM STDIN: the fastest way into a table.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  type CopyType,
  type CopyValue,
  createBlock,
  WRITERS,
  writeHeader,
  writeRow,
  writeTrailer,
} from './copy-row.ts';

/** Rows are sent in few large writes: one write per row costs more than the row itself. */
const BLOCK_BYTES = 64 * 1024;
/** Room for the row that fills a block. */
const ROOM_BYTES = 4 * 1024;

function* toBlocks(types: readonly CopyType[], rows: Iterable<readonly CopyValue[]>): Generator<Buffer> {
  let block = createBlock(BLOCK_BYTES + ROOM_BYTES);
  writeHeader(block);
  const writers = types.map((type) => WRITERS[type]);
  for (const row of rows) {
    writeRow(block, writers, row);
    if (block.length < BLOCK_BYTES) continue;
    yield block.bytes.subarray(0, block.length);
    block = createBlock(BLOCK_BYTES + ROOM_BYTES);
  }
  writeTrailer(block);
  yield block.bytes.subarray(0, block.length);
}

export type CopyColumn = readonly [name: string, type: CopyType];

/** Names are used verbatim; the types must be those of the table. */
export interface CopyTarget {
  table: string;
  columns: readonly CopyColumn[];
}

/** Copies rows into columns of a table, within the client's current transaction. */
export async function copyRows(
  client: pg.ClientBase,
  { table, columns }: CopyTarget,
  rows: Iterable<readonly CopyValue[]>,
): Promise<void> {
  const names = columns.map(([name]) => name).join(', ');
  const types = columns.map(([, type]) => type);
  const stream = client.query(copyFrom(`copy ${table} (${names}) from stdin (format binary)`));
  await pipeline(Readable.from(toBlocks(types, rows), { objectMode: true }), stream);
}
