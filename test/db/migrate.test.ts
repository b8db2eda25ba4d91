// Migrations: concurrent processes apply each only once, and a database migrated by a newer or changed program is
// refused.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MIGRATION_LOCK } from '../../src/db/advisory-locks.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { MigrationError } from '../../src/db/migration-refusals.ts';
import { createCuttableProxy } from '../http/cuttable.ts';
import { createTestDatabase } from '../setup/database.ts';

/** Returns the address of a new, empty database. */
const createEmpty = async () => (await createTestDatabase('')).url;

let database: string;
let client: pg.Client;
beforeAll(async () => {
  database = await createEmpty();
  client = new pg.Client(database);
  await client.connect();
});
afterAll(() => client.end());

test('if several processes start at the same time, one applies the migrations and the others find nothing to do', async () => {
  const applied = await Promise.all(Array.from({ length: 6 }, () => migrateToLatest(database)));
  const { rows } = await client.query('select name from schema_migration order by name');
  expect(rows.length).toBeGreaterThan(3);
  expect(applied.flat().sort()).toEqual(rows.map((row) => row.name));
  expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
});

test('a server that is not a pooler is not examined twice: one connection is enough', async () => {
  const proxy = await createCuttableProxy();
  await migrateToLatest(proxy.throughProxy(database));
  expect(proxy.opened()).toBe(1);
  await proxy.close();
});

test('timeouts of the role or the address do not cut migrations short', async () => {
  const slow = new URL(await createEmpty());
  // The wait for another migrating process outlasts these timeouts.
  const other = new pg.Client({ connectionString: slow.href });
  await other.connect();
  await other.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
  slow.searchParams.set('statement_timeout', '500');
  slow.searchParams.set('query_timeout', '500');
  slow.searchParams.set('options', '-c statement_timeout=500 -c timezone=Asia/Tokyo');
  const migrated = migrateToLatest(slow.href);
  setTimeout(() => other.end(), 1_000);
  expect((await migrated).length).toBeGreaterThan(3);
});

test('a database that something else uses is refused in a sentence', async () => {
  const address = await createEmpty();
  const other = new pg.Client(address);
  await other.connect();
  await other.query('create table app (id integer)');
  const refused = migrateToLatest(address);
  await expect(refused).rejects.toBeInstanceOf(MigrationError);
  await expect(refused).rejects.toThrow(
    /^Migration 0001_apps.sql cannot be applied \(relation "app" already exists\): does something else use/,
  );
  await other.end();
});

test('a migration that waits for a lock says for whom, lets through what queues behind it, and is done once the lock is free', async () => {
  const address = await createEmpty();
  const [holder, passer] = [new pg.Client(address), new pg.Client(address)];
  await Promise.all([holder.connect(), passer.connect()]);
  await holder.query('create table schema_migration (name text, sha256 text)');
  // The table can still be read, but every migration writes to it.
  const lock = 'begin; lock table schema_migration in share mode';
  await holder.query(lock);
  const { rows } = await holder.query(
    `select concat_ws(', ', 'pid ' || pg_backend_pid(), 'idle in transaction', 'from ' || host(inet_client_addr())) as session`,
  );
  const others = `held by other transactions (the oldest: ${rows[0].session})`;
  const reported: string[] = [];
  const options = { report: (message: string) => reported.push(message), lockWaitMs: 200 };
  await expect(migrateToLatest(address, { ...options, giveUpAfterMs: 0 })).rejects.toThrow(
    `Migration 0001_apps.sql needs a lock ${others}: end them, or wait until they have finished, then start again.`,
  );
  const migrated = migrateToLatest(address, options);
  while (reported.length === 0) await passer.query(`${lock}; rollback`);
  expect(reported).toEqual([`migration 0001_apps.sql is waiting for a lock ${others}`]);
  await holder.end();
  expect((await migrated).length).toBeGreaterThan(3);
  await passer.end();
});

test('a migration that fails leaves no trace, and those before it stay', async () => {
  await client.query(`delete from schema_migration where name = (select max(name) from schema_migration)`);
  const before = await client.query('select * from schema_migration order by name');
  // The trigger refuses each schema change once it is made.
  await client.query(
    `create function refuse() returns event_trigger language plpgsql as 'begin raise exception ''refused''; end'`,
  );
  await client.query('create event trigger refuse on ddl_command_end execute function refuse()');
  await expect(migrateToLatest(database)).rejects.toThrow();
  await client.query('drop event trigger refuse');
  expect((await client.query('select * from schema_migration order by name')).rows).toEqual(before.rows);
});

test('a migration that was skipped is not applied after later ones', async () => {
  const { rows } = await client.query(`delete from schema_migration where name like '0003%' returning *`);
  const refusal = migrateToLatest(database);
  await expect(refusal).rejects.toThrow(MigrationError);
  await expect(refusal).rejects.toThrow(/lacks migration 0003_purchases\.sql but has /);
  const { name: left, sha256 } = rows[0];
  await client.query('insert into schema_migration (name, sha256) values ($1, $2)', [left, sha256]);
});

test('an older program refuses a database that a newer one migrated, and says what to do', async () => {
  await client.query(`insert into schema_migration (name, sha256) values ('9999_later.sql', 'x')`);
  const refusal = migrateToLatest(database);
  await expect(refusal).rejects.toThrow(MigrationError);
  await expect(refusal).rejects.toThrow(/newer version \(9999_later\.sql\): run that version or restore a backup/);
  await client.query(`delete from schema_migration where name = '9999_later.sql'`);
});

test('a migration whose text was changed after it was applied is refused', async () => {
  await client.query(`update schema_migration set sha256 = 'other' where name = '0001_apps.sql'`);
  await expect(migrateToLatest(database)).rejects.toThrow(/0001_apps\.sql differs/);
});

test('a process that waits for another one names it, and gives up in the end', async () => {
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
  const reported: string[] = [];
  const report = (message: string) => reported.push(message);
  const refusal = await migrateToLatest(database, { report, giveUpAfterMs: 200 }).catch(({ message }) => message);
  const { rows } = await client.query(
    `select concat_ws(', ', 'pid ' || pg_backend_pid(), 'idle', 'from ' || host(inet_client_addr())) as holder`,
  );
  const [{ holder }] = rows;
  expect(refusal).toBe(
    `Another process (${holder}) holds the migration lock: stop it, or wait until it has finished, then start again.`,
  );
  expect(reported).toEqual([`waiting for another process that is migrating the database (${holder})`]);
  await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
});

test('a process that is interrupted waits neither for another one nor for a lock, and gives up its turn', async () => {
  const address = await createEmpty();
  const holder = new pg.Client(address);
  await holder.connect();
  const interrupt = async () => {
    const ending = new AbortController();
    const options = { giveUpAfterMs: 10_000, lockWaitMs: 200, signal: ending.signal, report: () => ending.abort() };
    await expect(migrateToLatest(address, options)).rejects.toThrow(
      'Interrupted: the next start will continue the migrations.',
    );
  };
  const ourTurn = { rows: [{ is_ours: true }] };
  expect(await holder.query('select pg_try_advisory_lock($1) as is_ours', [MIGRATION_LOCK])).toMatchObject(ourTurn);
  await interrupt();
  await holder.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);

  await holder.query('create table schema_migration (name text, sha256 text)');
  await holder.query('begin; lock table schema_migration in share mode');
  await interrupt();
  expect(await holder.query('select pg_try_advisory_lock($1) as is_ours', [MIGRATION_LOCK])).toMatchObject(ourTurn);
  await holder.end();
});

test('a process that is interrupted applies no further migration', async () => {
  const address = await createEmpty();
  await expect(migrateToLatest(address, { signal: AbortSignal.abort() })).rejects.toThrow(/^Interrupted/);
  expect((await migrateToLatest(address))[0]).toBe('0001_apps.sql');
});

test('a process that is interrupted cancels its current migration, which leaves no trace', async () => {
  const address = await createEmpty();
  const other = new pg.Client(address);
  await other.connect();
  await other.query(`
    create function linger() returns event_trigger language plpgsql as 'begin perform pg_sleep(60); end';
    create table schema_migration (name text, sha256 text);
    create event trigger linger on ddl_command_end execute function linger()`);
  const ending = new AbortController();
  const interrupted = expect(migrateToLatest(address, { signal: ending.signal })).rejects.toThrow(
    'Interrupted: the next start will continue the migrations.',
  );
  const lingering = `select from pg_stat_activity
    where application_name = 'sps-migrate' and datname = current_database() and wait_event = 'PgSleep'`;
  while ((await other.query(lingering)).rowCount === 0);
  ending.abort();
  await interrupted;
  expect((await other.query('select from schema_migration')).rowCount).toBe(0);
  await other.query('drop event trigger linger; drop table schema_migration');
  expect((await migrateToLatest(address))[0]).toBe('0001_apps.sql');
  await other.end();
});

test('a connection that breaks during a migration is a failure, and does not end the process', async () => {
  const proxy = await createCuttableProxy();
  await client.query('begin; lock table schema_migration');
  const broken = expect(migrateToLatest(proxy.throughProxy(database))).rejects.toThrow(/terminated/);
  // A watcher of its own: within one transaction, such as the one that holds the lock, activity appears unchanged.
  const watcher = new pg.Client(database);
  await watcher.connect();
  const waiting = `select from pg_stat_activity
    where application_name = 'sps-migrate' and datname = current_database() and wait_event_type = 'Lock'`;
  while ((await watcher.query(waiting)).rowCount === 0);
  await watcher.end();
  await proxy.cut();
  await broken;
  await client.query('rollback');
});
