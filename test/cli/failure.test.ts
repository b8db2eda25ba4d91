// How commands fail when the database does not answer, or not in time.
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { describeFailure } from '../../src/failure.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('a server that accepts connections and says nothing does not answer', async () => {
  const mute = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => mute.once('listening', resolve));
  const { port } = mute.address() as AddressInfo;
  const client = new pg.Client({ connectionString: `postgres://127.0.0.1:${port}/x`, connectionTimeoutMillis: 100 });
  expect(describeFailure(await failureOf(client.connect()))).toBe(
    'The database does not answer (timeout expired): is DATABASE_URL right, and is it running?',
  );
  mute.close();
});

test.each([
  // PostgreSQL 15 when its disk is full.
  ['XX000', 'could not write init file'],
  ['57P03', 'the database system is starting up'],
])('a server that refuses a connection has answered: %s', async (state, words) => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${state}\0M${words}\0\0`);
  const refusal = Buffer.concat([Buffer.from('E\0\0\0'), Buffer.from([fields.length + 4]), fields]);
  const refusing = createServer((socket) => socket.once('data', () => socket.end(refusal))).listen(0, '127.0.0.1');
  await new Promise((resolve) => refusing.once('listening', resolve));
  const { port } = refusing.address() as AddressInfo;
  expect(describeFailure(await failureOf(migrateToLatest(`postgres://127.0.0.1:${port}/x`)))).toBe(
    `The database refuses the connection: ${words}.`,
  );
  refusing.close();
});

test('a database in which a timeout expires is busy', async () => {
  const slow = database.db.transaction().execute(async (trx) => {
    await sql`set local statement_timeout = 50`.execute(trx);
    await sql`select pg_sleep(1)`.execute(trx);
  });
  expect(describeFailure(await failureOf(slow))).toBe(
    'The database is busy (canceling statement due to statement timeout): try again later.',
  );
  const locked = database.db.transaction().execute(async (holder) => {
    await sql`lock table app in access exclusive mode`.execute(holder);
    await database.db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = 50`.execute(trx);
      await sql`select from app`.execute(trx);
    });
  });
  expect(describeFailure(await failureOf(locked))).toBe(
    'The database is busy (canceling statement due to lock timeout): try again later.',
  );
});

test('a database in which other updates stay in the way is busy', async () => {
  const { db } = database;
  await sql`create table contested as select 1 as value`.execute(db);
  const late = db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`select from contested`.execute(trx);
      await sql`update contested set value = 2`.execute(db);
      await sql`update contested set value = 3`.execute(trx);
    });
  expect(describeFailure(await failureOf(late))).toBe(
    'The database is busy (could not serialize access due to concurrent update): try again later.',
  );
});

test('a database that cannot write says why', async () => {
  const failed = database.db.transaction().execute(async (trx) => {
    await sql`set transaction read only`.execute(trx);
    await sql`create table never (value integer)`.execute(trx);
  });
  expect(describeFailure(await failureOf(failed))).toBe(
    'The database cannot do this now: cannot execute CREATE TABLE in a read-only transaction.',
  );
});

test('a database in another encoding, without a schema, of another owner, without TLS, or without the certificates that its address names is refused in words', async () => {
  const reject = async (change: (url: URL) => void) => {
    const url = new URL(database.url);
    change(url);
    return describeFailure(await failureOf(migrateToLatest(url.href)));
  };
  const latin = await createTestDatabase("template template0 encoding 'LATIN1' locale 'C'");
  expect(await reject((url) => Object.assign(url, { pathname: new URL(latin.url).pathname }))).toMatch(
    /^The database uses the encoding LATIN1: create one with /,
  );
  await latin.close();

  expect(await reject((url) => url.searchParams.set('options', '-c search_path=nonesuch'))).toBe(
    "The role's search_path (nonesuch) contains no usable schema: create one, or change the path.",
  );

  const role = `sps_other_${randomBytes(6).toString('hex')}`;
  await sql`create role ${sql.ref(role)} login password 'other'`.execute(database.db);
  expect(await reject((url) => Object.assign(url, { username: role, password: 'other' }))).toBe(
    'The database does not allow this (permission denied for table schema_migration): is the role of DATABASE_URL the owner of the database?',
  );
  await sql`drop role ${sql.ref(role)}`.execute(database.db);

  expect(await reject((url) => url.searchParams.set('sslmode', 'require'))).toBe(
    'The database does not answer (The server does not support SSL connections): is DATABASE_URL right, and is it running?',
  );
  expect(await reject((url) => url.searchParams.set('sslrootcert', '/nowhere.pem'))).toBe(
    'Cannot use /nowhere.pem (ENOENT).',
  );
});
