// An import that cannot begin says why, and leaves nothing behind.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importFile } from '../../src/import/import-file.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { createWorld, NOW, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

test('a file that is there and cannot be opened', async () => {
  // A socket: also root may not open it.
  const path = await world.file('socket.ndjson', '').then((file) => file.replace('socket', 'listening'));
  const server = createServer().listen(path);
  await once(server, 'listening');
  await expect(world.importAs(PROFILES, path)).rejects.toThrow(/^Cannot read .*listening\.ndjson: /);
  server.close();
});

test('a database that gives the first connection and refuses the second', async () => {
  const { db, url } = world.database;
  const [role, password] = [`importer_${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
  await sql.raw(`create role ${role} login password '${password}' connection limit 1`).execute(db);
  try {
    const as = Object.assign(new URL(url), { username: role, password });
    const file = await world.file('transactions.ndjson', '');
    const attempt = importFile(TRANSACTIONS, { connectionString: as.href, app: world.app, file, now: () => NOW });
    await expect(attempt).rejects.toThrow('too many connections for role');
    await expect
      .poll(async () => (await sql`select from pg_stat_activity where usename = ${role}`.execute(db)).rows.length)
      .toBe(0);
  } finally {
    await sql.raw(`drop role ${role}`).execute(db);
  }
});
