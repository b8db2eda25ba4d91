// The settings of the service's sessions, regardless of what the database's address says.
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { sql } from 'kysely';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDb } from '../../src/db/client.ts';
import { isDatabaseAway } from '../../src/db/failures.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { openSession } from '../../src/db/session.ts';
import { inSnapshot } from '../../src/db/transactions.ts';
import { listenForNudges } from '../../src/webhooks/listener.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

async function readSettings(parameters: Record<string, string>, names: readonly string[]): Promise<string[]> {
  const url = new URL(database.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const settings = { max: 1, statementTimeoutMs: 4_000, applicationName: 'sps-test', connectionString: url.href };
  const db = createDb(settings, () => {});
  try {
    const { rows } = await sql<Record<string, string>>`
      select ${sql.join(names.map((name) => sql`current_setting(${name}) as ${sql.ref(name)}`))}`.execute(db);
    return names.map((name) => rows[0]![name]!);
  } finally {
    await db.destroy();
  }
}

test('settings of the role and the database for locks, texts and timeouts do not apply', async () => {
  const name = sql.ref(new URL(database.url).pathname.slice(1));
  const { rows } = await sql<{ is_known: boolean }>`
    select current_setting('transaction_timeout', true) is not null as is_known`.execute(database.db);
  const given = {
    default_transaction_isolation: 'serializable',
    array_nulls: 'off',
    standard_conforming_strings: 'off',
    extra_float_digits: '-15',
    idle_session_timeout: '2s',
    // Exists since PostgreSQL 17.
    ...(rows[0]!.is_known && { transaction_timeout: '2s' }),
  };
  for (const [setting, value] of Object.entries(given)) {
    await sql`alter database ${name} set ${sql.ref(setting)} = ${sql.lit(value)}`.execute(database.db);
  }
  const names = Object.keys(given);
  const held = await readSettings({}, names);
  for (const setting of names) await sql`alter database ${name} reset ${sql.ref(setting)}`.execute(database.db);
  expect(held).toEqual(['read committed', 'on', 'on', '1', '0', '0'].slice(0, names.length));
});

test('options of the address apply in addition to the settings of the service, not instead of them', async () => {
  const options = '-c TimeZone=Asia/Tokyo -c datestyle=SQL,MDY -c lock_timeout=0 -c jit=on -c enable_material=off';
  const names = [
    'timezone',
    'datestyle',
    'lock_timeout',
    'jit',
    'enable_material',
    'idle_in_transaction_session_timeout',
  ];
  expect(await readSettings({ options }, names)).toEqual(['UTC', 'ISO, MDY', '4s', 'off', 'off', '1min']);
});

test('timeouts of the address do not apply', async () => {
  const parameters = {
    statement_timeout: '0',
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
    client_encoding: 'latin1',
    connect_timeout: '3',
  };
  const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'client_encoding'];
  expect(await readSettings(parameters, names)).toEqual(['4s', '4s', '1min', 'UTF8']);
});

/**
 * Returns the names of the parameters in startup packets. In PostgreSQL's protocol a packet is its length, the version,
 * then names and values that end with zeros.
 */
async function readStartup(connect: (url: string) => Promise<unknown>): Promise<string[]> {
  const seen = new Set<string>();
  const { hostname, port } = new URL(database.url);
  const proxy = createServer((socket) => {
    const server = createConnection({ host: hostname, port: Number(port || 5432) });
    socket.once('data', (packet) => {
      const words = packet.subarray(8, packet.readUInt32BE(0)).toString().split('\0');
      for (let i = 0; words[i]; i += 2) seen.add(words[i]!);
    });
    socket.pipe(server).pipe(socket);
    for (const one of [socket, server]) one.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(database.url);
  url.port = String((proxy.address() as AddressInfo).port);
  await connect(url.href);
  proxy.close();
  return [...seen].sort();
}

test('connections begin with nothing that a pooler would refuse', async () => {
  const usual = ['application_name', 'client_encoding', 'database', 'user'];
  const settings = { max: 1, statementTimeoutMs: 4_000, applicationName: 'sps-test' };
  const begun = await readStartup(async (connectionString) => {
    const db = createDb({ ...settings, connectionString }, () => {});
    await sql`select`.execute(db);
    await db.destroy();
    await migrateToLatest(connectionString);
    await (await openSession({ ...settings, connectionString })).close();
    const listener = listenForNudges(connectionString, () => undefined, pino({ enabled: false }));
    await listener.stop();
  });
  expect(begun).toEqual(usual);
});

test('a snapshot whose rows were changed meanwhile is taken again', async () => {
  const { db } = database;
  await sql`create table counted as select 0 as value`.execute(db);
  let attempts = 0;
  await inSnapshot(db, async (trx) => {
    await sql`select from counted`.execute(trx);
    if (++attempts < 3) await sql`update counted set value = value + 1`.execute(db);
    await sql`update counted set value = value + 10`.execute(trx);
  });
  expect(attempts).toBe(3);
  expect((await sql`select value from counted`.execute(db)).rows).toEqual([{ value: 12 }]);
});

test('if all connections are in use, the error says so, not that the server cannot be reached', async () => {
  const settings = { connectionString: database.url, max: 1, statementTimeoutMs: 4_000, applicationName: 'sps-test' };
  const db = createDb(settings, () => {});
  await db.connection().execute(async () => {
    const failure = await sql`select`.execute(db).catch((error: Error) => error);
    expect(failure).toMatchObject({ message: 'all 1 connections of sps-test are in use and none became free in time' });
    expect(isDatabaseAway(failure)).toBe(true);
  });
  await db.destroy();
});
