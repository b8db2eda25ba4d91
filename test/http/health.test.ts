// /healthz says that the process runs, /readyz that it can serve: the database answers and has every migration.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDb } from '../../src/db/client.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { checkServer } from '../../src/operations/server-checks.ts';
import { POOL } from '../setup/database.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('a service that can serve is healthy and ready, without a key', async () => {
  expect(await service.call('GET', '/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
  expect(await service.call('GET', '/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
});

test('a service all of whose connections are busy is ready: others would have its load', async () => {
  const { db } = service.database;
  const held = await Promise.all(Array.from({ length: POOL }, () => db.startTransaction().execute()));
  const answers = await Promise.all(Array.from({ length: 4 }, () => service.call('GET', '/readyz')));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await Promise.all(held.map((trx) => trx.rollback().execute()));
});

test('a database that takes no writes, as a replica, is not ready; a command may look at it', async () => {
  const readOnly = new URL(service.database.url);
  readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
  const usual = service.deps.probeDb;
  service.deps.probeDb = createDb(
    { connectionString: readOnly.href, max: 1, statementTimeoutMs: 5_000, applicationName: 'sps-test' },
    () => {},
  );
  try {
    expect(await service.call('GET', '/readyz')).toMatchObject({ status: 503 });
    const [database] = await checkServer({ ...service.deps, db: service.deps.probeDb });
    expect(database).toMatchObject({ state: 'problem', words: expect.stringContaining('takes no writes') });
    expect(await migrateToLatest(readOnly.href)).toEqual([]);
  } finally {
    await service.deps.probeDb.destroy();
    service.deps.probeDb = usual;
  }
  expect(await service.call('GET', '/readyz')).toMatchObject({ status: 200 });
});

test('a database that lacks a migration is not ready, but healthy', async () => {
  await sql`delete from schema_migration where name = (select max(name) from schema_migration)`.execute(
    service.database.db,
  );
  expect(await service.call('GET', '/readyz')).toMatchObject({
    status: 503,
    json: { error_code: 'service_unavailable' },
  });
  expect(await service.call('GET', '/healthz')).toMatchObject({ status: 200 });
});

test('nor is one that was never migrated', async () => {
  await sql`drop table schema_migration`.execute(service.database.db);
  expect(await service.call('GET', '/readyz')).toMatchObject({
    status: 503,
    json: { error_code: 'service_unavailable' },
  });
});
