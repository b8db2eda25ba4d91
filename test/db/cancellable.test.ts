// Snapshots for charts and the event feed, and their cancellation (src/db/cancellable.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readCancellably } from '../../src/db/cancellable.ts';
import type { DB } from '../../src/db/types.ts';
import { createCuttableProxy } from '../http/cuttable.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { connectTo } from './one-connection.ts';

let database: TestDatabase;
let analyticsDb: Kysely<DB>;
beforeAll(async () => {
  database = await createTestDatabase();
  analyticsDb = connectTo(database.url);
  await sql`create table counted (n integer)`.execute(database.db);
});
beforeEach(async () => {
  await sql`truncate counted`.execute(database.db);
});
afterAll(async () => {
  await analyticsDb.destroy();
  await database.close();
});

const depsOf = (charts: Kysely<DB>) => ({ db: database.db, analyticsDb: charts });
const FOREVER = new AbortController().signal;

async function ask(db: Kysely<DB>, value: string): Promise<string> {
  const { rows } = await sql<{ value: string }>`select ${value}::text as value`.execute(db);
  return rows[0]!.value;
}

const write = (db: Kysely<DB>) => sql`insert into counted values (1)`.execute(db);

async function count(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from counted`.execute(db);
  return rows[0]!.n;
}

test('the first statements are sent before the start of the transaction is answered', async () => {
  const proxy = await createCuttableProxy();
  const held = connectTo(proxy.throughProxy(database.url));
  await ask(held, 'a connection');
  proxy.holdUntil('another');
  const answers = await readCancellably(depsOf(held), FOREVER, {
    first: (each) => Promise.all([ask(each, 'one'), ask(each, 'another')]),
    rest: (_, found) => found,
  });
  expect(answers).toEqual(['one', 'another']);
  await held.destroy();
  await proxy.close();
});

test('all statements see one snapshot', async () => {
  await write(database.db);
  const counts = await readCancellably(depsOf(analyticsDb), FOREVER, {
    first: count,
    async rest(snapshot, first) {
      await write(database.db);
      return [first, await count(snapshot)];
    },
  });
  expect(counts).toEqual([1, 1]);
  expect(await count(analyticsDb)).toBe(2);
});

test('nothing can be written in a snapshot, and the next user of the connection can write again', async () => {
  const written = readCancellably(depsOf(analyticsDb), FOREVER, { first: write, rest: () => 'written' });
  await expect(written).rejects.toThrow('read-only transaction');
  await write(analyticsDb);
  const late = readCancellably(depsOf(analyticsDb), FOREVER, { first: count, rest: write });
  await expect(late).rejects.toThrow('read-only transaction');
  await write(analyticsDb);
  await readCancellably(depsOf(analyticsDb), FOREVER, { first: count, rest: (_, found) => found });
  await write(analyticsDb);
  expect(await count(database.db)).toBe(3);
});

test('a snapshot whose signal has aborted is unavailable, whenever that happens', async () => {
  const error = { statusCode: 503 };
  const early = new AbortController();
  early.abort();
  const never = readCancellably(depsOf(analyticsDb), early.signal, { first: count, rest: (_, found) => found });
  await expect(never).rejects.toMatchObject(error);

  const linger = async (db: Kysely<DB>): Promise<void> => void (await sql`select pg_sleep(4)`.execute(db));
  const nothing = async (): Promise<void> => undefined;
  for (const reading of [
    { first: linger, rest: nothing },
    { first: nothing, rest: linger },
  ]) {
    const began = performance.now();
    const slow = readCancellably(depsOf(analyticsDb), AbortSignal.timeout(200), reading);
    await expect(slow).rejects.toMatchObject(error);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(await ask(analyticsDb, 'serves on')).toBe('serves on');
  }
});

test('a statement that begins only after the signal has aborted is cancelled too', async () => {
  const leaving = new AbortController();
  const began = performance.now();
  const read = readCancellably(depsOf(analyticsDb), leaving.signal, {
    first: count,
    async rest(snapshot) {
      leaving.abort();
      // The first cancellation finds no statement to cancel.
      await sleep(250);
      await sql`select pg_sleep(4)`.execute(snapshot);
    },
  });
  await expect(read).rejects.toMatchObject({ statusCode: 503 });
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('the next user of the connection is not hit by a late cancellation', async () => {
  const busy = connectTo(database.url);
  const held = await busy.startTransaction().execute();
  const leaving = new AbortController();
  const read = readCancellably({ ...depsOf(analyticsDb), db: busy }, leaving.signal, {
    first: count,
    rest: () => leaving.abort(),
  });
  const next = sql`select pg_sleep(0.5)`.execute(analyticsDb);
  await sleep(250);
  await held.commit().execute();
  await read;
  await expect(next).resolves.toBeDefined();
  await busy.destroy();
});
