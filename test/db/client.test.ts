// The settings of the service's sessions, whatever the address of the database says.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDb, createPool, inSnapshot } from '../../src/db/client.ts';
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
  const db = createDb(createPool(settings, () => {}));
  try {
    const { rows } = await sql<Record<string, string>>`
      select ${sql.join(names.map((name) => sql`current_setting(${name}) as ${sql.ref(name)}`))}`.execute(db);
    return names.map((name) => rows[0]![name]!);
  } finally {
    await db.destroy();
  }
}

test('options of the address hold beside the settings of the service, not instead of them', async () => {
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

test('time-outs of the address do not hold', async () => {
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

test('a snapshot whose rows were changed meanwhile is taken anew', async () => {
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
