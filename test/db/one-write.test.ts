// Everything sent in one turn of the event loop is written in one call (src/db/one-write.ts).
import { type Duplex, PassThrough } from 'node:stream';
import { sql } from 'kysely';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { createDb } from '../../src/db/client.ts';
import { streamOf } from '../../src/db/deadline.ts';
import { corkPerTurn } from '../../src/db/one-write.ts';
import { overlapping } from '../../src/db/overlap.ts';
import { executePrepared } from '../../src/db/prepared.ts';
import { createTestDatabase } from '../setup/database.ts';

/** Counts the calls that write to a stream from now on. */
function countWrites(stream: Duplex): () => number {
  let count = 0;
  for (const name of ['_write', '_writev'] as const) {
    const write = stream[name]?.bind(stream) as (...args: unknown[]) => void;
    Object.assign(stream, {
      [name]: (...args: unknown[]) => {
        count++;
        write(...args);
      },
    });
  }
  return () => count;
}

test('statements sent together reach the socket in one call, those of the next turn in another', async () => {
  const database = await createTestDatabase();
  let writes = () => 0;
  const settings = {
    connectionString: database.url,
    max: 1,
    statementTimeoutMs: 5_000,
    applicationName: 'sps-test',
    onConnect: async (client: pg.ClientBase) => {
      writes = countWrites(streamOf(client as pg.PoolClient));
    },
  };
  const db = createDb(settings, () => {});
  const ask = (each: typeof db, value: number) =>
    executePrepared(each, 'one_write', sql<{ value: number }>`select ${value}::integer as value`);
  await db.transaction().execute(async (trx) => {
    for (const values of [
      [1, 2, 3],
      [4, 5],
    ]) {
      const before = writes();
      const answers = await overlapping(trx, (each) => values.map((value) => ask(each, value)));
      expect(answers.flat()).toEqual(values.map((value) => ({ value })));
      expect(writes() - before).toBe(1);
    }
  });
  await db.destroy();
  await database.close();
});

test('a stream that ends meanwhile causes no error', async () => {
  const stream = new PassThrough();
  const holdBack = corkPerTurn(stream);
  holdBack();
  stream.write('lost');
  stream.destroy();
  holdBack();
  await new Promise(setImmediate);
  expect(stream.destroyed).toBe(true);
});
