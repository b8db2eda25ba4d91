// A session keeps one connection (src/db/session.ts).
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../../src/db/session.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const open = () =>
  openSession({ connectionString: database.url, statementTimeoutMs: 5_000, applicationName: 'sps-test' });

test('closing a session releases its locks', async () => {
  for (let round = 0; round < 20; round++) {
    const session = await open();
    await sql`select pg_advisory_lock(4711)`.execute(session.db);
    await session.close();
    const { rows } = await sql<{ is_held: boolean }>`
      select exists (select from pg_locks where locktype = 'advisory' and objid = 4711) as is_held`.execute(
      database.db,
    );
    expect(rows).toEqual([{ is_held: false }]);
  }
});

test('a session whose connection is gone can be closed', async () => {
  const session = await open();
  await expect(sql`select pg_terminate_backend(pg_backend_pid())`.execute(session.db)).rejects.toThrow();
  await session.close();
});
