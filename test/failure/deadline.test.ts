// A database that stops answering without a word: statements fail in time, and the pool works again once it is back.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseTimeout } from '../../src/db/deadline.ts';
import { isDatabaseUnavailable } from '../../src/db/failures.ts';
import { openSession } from '../../src/db/session.ts';
import { connectTo } from '../db/one-connection.ts';
import { type CuttableProxy, createCuttableProxy } from '../http/cuttable.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
let proxy: CuttableProxy;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await createCuttableProxy();
});
afterAll(async () => {
  await proxy.close();
  await database.close();
});

const connect = (url: string) => connectTo(url, 100);

test('a statement without an answer fails as if the database were away, and so does its transaction', async () => {
  const db = connect(proxy.throughProxy(database.url));
  const ask = () => sql`select 1`.execute(db);
  await ask();
  const failed = db
    .transaction()
    .execute(async (trx) => {
      proxy.swallow();
      await sql`select 1`.execute(trx);
    })
    .catch((error) => error);
  expect(isDatabaseUnavailable(await failed)).toBe(true);
  await proxy.cut();
  await proxy.mend();
  await ask();
  await db.destroy();
});

test('a transaction with a timeout of its own may take that long, and the next one no longer than usual', async () => {
  const db = connect(proxy.throughProxy(database.url));
  await db.transaction().execute(async (trx) => {
    await raiseTimeout(trx, 10_000);
    await sql`select pg_sleep(5.5)`.execute(trx);
  });
  await expect(sql`select pg_sleep(1)`.execute(db)).rejects.toMatchObject({ code: '57014' });
  proxy.swallow();
  const began = performance.now();
  const failed = await sql`select 1`.execute(db).catch((error) => error);
  expect(isDatabaseUnavailable(failed)).toBe(true);
  expect(performance.now() - began).toBeLessThan(8_000);
  await proxy.cut();
  await proxy.mend();
  await db.destroy();
});

test('COPY without an answer fails as if the database were away', async () => {
  const connectionString = proxy.throughProxy(database.url);
  const session = await openSession({ connectionString, statementTimeoutMs: 100, applicationName: 'sps-test' });
  await sql`create temporary table copied (value integer)`.execute(session.db);
  await session.copy({ table: 'copied', columns: [['value', 'integer']] }, [[1]]);
  proxy.swallow();
  const failed = await session
    .copy({ table: 'copied', columns: [['value', 'integer']] }, [[2]])
    .catch((error) => error);
  expect(isDatabaseUnavailable(failed)).toBe(true);
  await proxy.cut();
  await proxy.mend();
  await session.close();
});
