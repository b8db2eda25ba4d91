// Statements of one transaction that are in progress at the same time (src/db/overlap.ts).
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overlapping } from '../../src/db/overlap.ts';
import type { DB } from '../../src/db/types.ts';
import { createCuttableProxy } from '../http/cuttable.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { connectTo } from './one-connection.ts';

let database: TestDatabase;
let db: Kysely<DB>;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connectTo(database.url);
});
afterAll(async () => {
  await db.destroy();
  await database.close();
});

async function ask(trx: Kysely<DB>, value: string): Promise<string> {
  const { rows } = await sql<{ value: string }>`select ${value}::text as value`.execute(trx);
  return rows[0]!.value;
}

test('all statements are sent before the first is answered', async () => {
  const proxy = await createCuttableProxy();
  const held = connectTo(proxy.throughProxy(database.url));
  const answers = await held.transaction().execute((trx) => {
    proxy.holdUntil('the third');
    return overlapping(trx, (each) => ['one', 'another', 'the third'].map((value) => ask(each, value)));
  });
  expect(answers).toEqual(['one', 'another', 'the third']);
  await held.destroy();
  await proxy.close();
});

test('statements run in their order, and each sees what those before it did', async () => {
  const counts = await db.transaction().execute(async (trx) => {
    await sql`create temp table seen (n integer) on commit drop`.execute(trx);
    const [, one, , two] = await overlapping(trx, (each) => {
      const write = (n: number) => sql`insert into seen values (${n})`.execute(each);
      const count = async () =>
        Number((await sql<{ n: bigint }>`select count(*) as n from seen`.execute(each)).rows[0]!.n);
      return [write(1), count(), write(2), count()];
    });
    return [one, two];
  });
  expect(counts).toEqual([1, 2]);
});

test('when a statement fails, its error is reported, nothing of the transaction remains, and the connection stays usable', async () => {
  await sql`create table overlapped (n integer)`.execute(db);
  const failed = db
    .transaction()
    .execute((trx) =>
      overlapping(trx, (each) => [
        sql`insert into overlapped values (1)`.execute(each),
        sql`select 1 / ${0}::integer`.execute(each),
        sql`insert into overlapped values (2)`.execute(each),
      ]),
    );
  await expect(failed).rejects.toThrow('division by zero');
  const { rows } = await sql`select n from overlapped`.execute(db);
  expect(rows).toEqual([]);
});

test('the reported error is that of the statement that failed, even if those after it are reported first', async () => {
  const proxy = await createCuttableProxy();
  const held = connectTo(proxy.throughProxy(database.url));
  const deep = async (trx: Kysely<DB>): Promise<unknown> =>
    Promise.all([Promise.all([sql`select 1 / ${0}::integer`.execute(trx)])]);
  const failed = held.transaction().execute(async (trx) => {
    proxy.holdUntil('current transaction is aborted');
    return overlapping(trx, (each) => [deep(each), ask(each, 'the last')]);
  });
  await expect(failed).rejects.toThrow('division by zero');
  expect(await ask(held, 'serves on')).toBe('serves on');
  await held.destroy();
  await proxy.close();
});

test('after a failure nothing more is sent, as it would be written outside the transaction', async () => {
  let later: Promise<string> | undefined;
  const failed = db.transaction().execute((trx) =>
    overlapping(trx, (each) => {
      const failing = sql`select 1 / ${0}::integer`.execute(each);
      const write = () => sql`insert into overlapped values (3)`.execute(each);
      later = failing.catch(() =>
        write().then(
          () => 'written',
          ({ message }) => message,
        ),
      );
      return [failing];
    }),
  );
  await expect(failed).rejects.toThrow('division by zero');
  expect(await later).toBe('division by zero');
  const { rows } = await sql`select n from overlapped`.execute(db);
  expect(rows).toEqual([]);
});
