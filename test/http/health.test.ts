// /healthz says that the process runs. /readyz says that it can serve: the database answers and has every migration.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDb } from '../../src/db/client.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { checkServer } from '../../src/operations/server-checks.ts';
import { POOL } from '../setup/database.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
const lines: string[] = [];
beforeAll(async () => {
  service = await startService({ onLog: (line) => lines.push(line) });
});
afterAll(() => service.close());

test('a service that can serve is healthy and ready, without a key', async () => {
  expect(await service.call('GET', '/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
  expect(await service.call('GET', '/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
});

test('a service whose connections are all busy is ready: others would get its load', async () => {
  const { db } = service.database;
  const held = await Promise.all(Array.from({ length: POOL }, () => db.startTransaction().execute()));
  const responses = await Promise.all(Array.from({ length: 4 }, () => service.call('GET', '/readyz')));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await Promise.all(held.map((trx) => trx.rollback().execute()));
});

test('a read-only database, such as a replica, is not ready; commands may still examine it', async () => {
  const readOnly = new URL(service.database.url);
  readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
  const usual = service.deps.probeDb;
  service.deps.probeDb = createDb(
    { connectionString: readOnly.href, max: 1, statementTimeoutMs: 5_000, applicationName: 'sps-test' },
    () => {},
  );
  try {
    expect(await service.call('GET', '/readyz')).toMatchObject({ status: 503 });
    // It answers, so nothing is wrong with the connection.
    expect(lines.join('')).not.toContain('the readiness check could not query the database');
    const [database] = await checkServer({ ...service.deps, db: service.deps.probeDb });
    expect(database).toMatchObject({ state: 'problem', message: expect.stringContaining('database is read-only') });
    expect(await migrateToLatest(readOnly.href)).toEqual([]);
  } finally {
    await service.deps.probeDb.destroy();
    service.deps.probeDb = usual;
  }
  expect(await service.call('GET', '/readyz')).toMatchObject({ status: 200 });
});

/** Asks for readiness as a role of its own, over connections that live `lifetimeMs`; `alter` changes the role. */
async function askingAsRole(
  lifetimeMs: number,
  work: (alter: (option: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const { db, url } = service.database;
  const [role, password] = [`prober_${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
  await sql.raw(`create role ${role} login password '${password}'`).execute(db);
  await sql`do $$ begin execute format('grant %I to ${sql.raw(role)}', current_user); end $$`.execute(db);
  const usual = service.deps.probeDb;
  const { href } = Object.assign(new URL(url), { username: role, password });
  service.deps.probeDb = createDb(
    { connectionString: href, max: 1, lifetimeMs, statementTimeoutMs: 5_000, applicationName: 'sps-test' },
    () => {},
  );
  try {
    await work((option) => sql.raw(`alter role ${role} ${option}`).execute(db));
  } finally {
    await service.deps.probeDb.destroy();
    service.deps.probeDb = usual;
    const gone = async () => (await sql`select from pg_stat_activity where usename = ${role}`.execute(db)).rows.length;
    await expect.poll(gone).toBe(0);
    await sql.raw(`drop role ${role}`).execute(db);
  }
}

const askReadiness = async () => (await service.call('GET', '/readyz')).status;

test("a database that accepts no new connections is not ready, although the probe's would live on; then it is ready again", async () => {
  await askingAsRole(200, async (alter) => {
    expect(await askReadiness()).toBe(200);
    await alter('nologin');
    await expect.poll(askReadiness).toBe(503);
    await alter('login');
    expect(await askReadiness()).toBe(200);
  });
});

test('a database whose connections are taken by others stays as ready as it was', async () => {
  await askingAsRole(200, async (alter) => {
    expect(await askReadiness()).toBe(200);
    await alter('connection limit 0');
    await expect
      .poll(async () => {
        expect(await askReadiness()).toBe(200);
        return lines.join('');
      })
      .toContain('too many connections for role');
    await alter('nologin');
    expect(await askReadiness()).toBe(503);
    await alter('login');
    expect(await askReadiness()).toBe(503);
    await alter('connection limit -1');
    expect(await askReadiness()).toBe(200);
  });
});

test('a probe does not fail because its connection has ended', async () => {
  await askingAsRole(5, async () => {
    for (let i = 0; i < 20; i++) expect(await askReadiness()).toBe(200);
  });
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

test('a database that was never migrated is not ready', async () => {
  await sql`drop table schema_migration`.execute(service.database.db);
  expect(await service.call('GET', '/readyz')).toMatchObject({
    status: 503,
    json: { error_code: 'service_unavailable' },
  });
});
