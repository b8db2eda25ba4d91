// An import that cannot begin, or cannot finish, says why and leaves nothing behind.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { truncateSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importFile } from '../../src/import/import-file.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { COINS } from '../analytics/import.ts';
import { waitForBlocked } from '../setup/locks.ts';
import { createWorld, NOW, toNdjson, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

test('a file that exists but cannot be opened is reported', async () => {
  // A socket: even root cannot open it.
  const path = await world.file('socket.ndjson', '').then((file) => file.replace('socket', 'listening'));
  const server = createServer().listen(path);
  await once(server, 'listening');
  await expect(world.importAs(PROFILES, path)).rejects.toThrow(/^Cannot read .*listening\.ndjson: /);
  server.close();
});

test('a database that refuses the second connection, which only a larger file needs, is reported, and no connection stays', async () => {
  const { db, url } = world.database;
  const [role, password] = [`importer_${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
  await sql.raw(`create role ${role} login password '${password}' connection limit 1`).execute(db);
  await sql`do $$ begin execute format('grant %I to ${sql.raw(role)}', current_user); end $$`.execute(db);
  try {
    const as = Object.assign(new URL(url), { username: role, password });
    // Batches of 1,000, 10,000 and one.
    const records = Array.from({ length: 11_001 }, (_, id) => ({
      ...COINS,
      customer_user_id: `nobody-${id}`,
      store_transaction_id: `c${id}`,
      store_original_transaction_id: `c${id}`,
    }));
    const file = await world.file('transactions.ndjson', toNdjson(records));
    const attempt = importFile(TRANSACTIONS, { connectionString: as.href, app: world.app, file, now: () => NOW });
    await expect(attempt).rejects.toThrow('too many connections for role');
    expect(await world.rejects('transactions.ndjson')).toHaveLength(11_000);
    await expect
      .poll(async () => (await sql`select from pg_stat_activity where usename = ${role}`.execute(db)).rows.length)
      .toBe(0);
  } finally {
    await sql.raw(`drop role ${role}`).execute(db);
  }
});

test('a file that is already being imported is refused, as the rejects of both imports would be mixed', async () => {
  const file = await world.file('once.ndjson', toNdjson([{ customer_user_id: 'anna' }, { customer_user_id: '' }]));
  const held = await world.database.db.startTransaction().execute();
  await sql`lock table profile in share mode`.execute(held);
  const first = world.importAs(PROFILES, file);
  await waitForBlocked(world);
  await expect(world.importAs(PROFILES, file)).rejects.toThrow('once.ndjson is already being imported');
  await held.commit().execute();
  expect(await first).toMatchObject({ written: 1, rejected: 1 });
  expect(await world.rejects('once.ndjson')).toMatchObject([{ line: 2 }]);
  expect(await world.importAs(PROFILES, file)).toMatchObject({ unchanged: 1, rejected: 1 });
});

test('corrected rejects are imported, whatever their file is called', async () => {
  const lines = [JSON.stringify({ customer_user_id: 'bert', country: 'Germany' }), 'nonsense'];
  const file = await world.file('faulty.ndjson', lines.join('\n'));
  expect(await world.importAs(PROFILES, file)).toMatchObject({ rejected: 2 });
  const corrected = await world.file(
    'corrected.ndjson',
    (await readFile(`${file}.rejects.ndjson`, 'utf8')).replace('"Germany"', '"DE"'),
  );
  expect(await world.importAs(PROFILES, corrected)).toEqual({ read: 2, written: 1, unchanged: 0, rejected: 1 });
  const reason = 'This reject has no record; correct it in the file it came from.';
  expect(await world.rejects('corrected.ndjson')).toEqual([{ line: 2, reason, text: 'nonsense' }]);
});

test('corrected rejects are kept when their file is imported again', async () => {
  const file = await world.file('again.ndjson', toNdjson([{ customer_user_id: 'again', country: 'France' }]));
  const path = `${file}.rejects.ndjson`;
  expect(await world.summaryOf(PROFILES, file)).toMatchObject({ rejects_file: path });
  const corrected = (await readFile(path, 'utf8')).replace('"France"', '"FR"');
  await writeFile(path, corrected);
  const summary = await world.summaryOf(PROFILES, file);
  expect(summary).toMatchObject({ rejects_file: path, earlier_rejects_files: [`${file}.rejects.1.ndjson`] });
  expect(await readFile(`${file}.rejects.1.ndjson`, 'utf8')).toBe(corrected);
});

test('an import that is asked to end writes nothing more, even if it has read it', async () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => ({ customer_user_id: `stopped-${index}` }));
  const file = await world.file('stopped.ndjson', toNdjson(lines));
  const abort = new AbortController();
  const options = { connectionString: world.database.url, app: world.app, file, now: () => NOW };
  const attempt = importFile(PROFILES, { ...options, signal: abort.signal, onProgress: () => abort.abort() });
  await expect(attempt).rejects.toThrow('Interrupted: records written so far are kept');
  const written = world.database.db.selectFrom('profile').select('profile_id');
  expect(await written.where('customer_user_id', 'like', 'stopped-%').execute()).toHaveLength(1_000);
});

test('a file that is cut short while it is read is not taken for the whole file', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => ({ customer_user_id: `${index}`.padStart(40, '0') }));
  const file = await world.file('shrinking.ndjson', toNdjson(lines));
  const onProgress = () => truncateSync(file, 1_000);
  const options = { connectionString: world.database.url, app: world.app, file, now: () => NOW, onProgress };
  await expect(importFile(PROFILES, options)).rejects.toThrow('shrinking.ndjson was truncated while it was being read');
});
