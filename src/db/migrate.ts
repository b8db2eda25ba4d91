// Runs migrations/*.sql in order, each in a transaction, all under one advisory lock so that several processes may
// start at the same time. Forward only: a database with migrations that this program does not know is refused.
import type pg from 'pg';
import { MIGRATION_LOCK } from './advisory-locks.ts';
import { applySettings, KEEP_ALIVE, splitAddress } from './client.ts';
import { createClient } from './client-class.ts';
import { streamOf } from './deadline.ts';
import { isConflict, isLockTimeout, rethrowConnectFailure } from './failures.ts';
import { runInterruptibly } from './interruptible.ts';
import { listMigrations, type Migration } from './migration-files.ts';
import {
  MigrationError,
  refuseEncoding,
  refuseGaps,
  refuseMissingSchema,
  refuseUnknownMigrations,
} from './migration-refusals.ts';
import {
  describeLockHolder,
  describeOldestTransaction,
  throwIfInterrupted,
  tryUntilDone,
  type WaitOptions,
} from './migration-waits.ts';
import { leadsThroughPooler, SHARES_SESSIONS, sharesSessions } from './shared-sessions.ts';

/** A pooler accepts a client before it has a session for it. */
const FIRST_ANSWER_MS = 10_000;
const NO_ANSWER = `The database accepted the connection but answered nothing for ${FIRST_ANSWER_MS / 1000} s: does it hang, or has a pooler in DATABASE_URL no session left?`;
const LOCK_POLL_MS = 200;
/**
 * While a migration waits for a lock, a running service's statements on that table queue behind it. So this is less
 * than the service waits before it answers 503.
 */
const LOCK_WAIT_MS = 3_000;
/** duplicate_table, duplicate_object, duplicate_function. */
const ALREADY_EXISTS: readonly string[] = ['42P07', '42710', '42723'];

/** These override those of role, database and address: an index of a large table takes as long as it takes. */
const SETTINGS = {
  timezone: 'UTC',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
};

interface MigrationOptions extends WaitOptions {
  lockWaitMs?: number;
}

/** Tries to take the lock without queueing for it: a session that waits in a statement cannot say for whom. */
async function tryToTakeLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as is_taken', [MIGRATION_LOCK]);
  return rows[0].is_taken;
}

/** Takes the migration lock, as several processes may start at the same time. */
async function takeLock(client: pg.Client, options: MigrationOptions): Promise<void> {
  const describe = async () => {
    const holder = await describeLockHolder(client);
    return {
      waits: `waiting for another process that is migrating the database${holder}`,
      givesUp: `Another process${holder} holds the migration lock: stop it, or wait until it has finished, then start again.`,
    };
  };
  await tryUntilDone(() => tryToTakeLock(client), { restMs: LOCK_POLL_MS, describe }, options);
}

/** Rethrows the error. If tables of something else are in the way, throws one that says so instead. */
function rethrowExplained(migration: string, error: unknown): never {
  const { code, message } = error as pg.DatabaseError;
  if (!ALREADY_EXISTS.includes(code ?? '')) throw error;
  throw new MigrationError(
    `Migration ${migration} cannot be applied (${message}): does something else use this database? Give the service a database of its own.`,
  );
}

/** Applies a migration. Returns false if other transactions were in its way. */
async function tryToApply(client: pg.Client, { name, sql, sha256 }: Migration, lockWaitMs: number): Promise<boolean> {
  try {
    await client.query('begin');
    await client.query(`set local lock_timeout = ${lockWaitMs}`);
    await client.query(sql);
    await client.query('insert into schema_migration (name, sha256) values ($1, $2)', [name, sha256]);
    await client.query('commit');
    return true;
  } catch (error) {
    if (!isLockTimeout(error) && !isConflict(error)) rethrowExplained(name, error);
    await client.query('rollback');
    return false;
  }
}

/** Applies a migration. If other transactions are in its way, lets what queues behind it pass and starts over. */
async function apply(client: pg.Client, migration: Migration, options: MigrationOptions): Promise<void> {
  const { name } = migration;
  const { lockWaitMs = LOCK_WAIT_MS } = options;
  const describe = async () => {
    const others = `other transactions${await describeOldestTransaction(client, lockWaitMs)}`;
    return {
      waits: `migration ${name} is waiting for a lock held by ${others}`,
      givesUp: `Migration ${name} needs a lock held by ${others}: end them, or wait until they have finished, then start again.`,
    };
  };
  await tryUntilDone(() => tryToApply(client, migration, lockWaitMs), { restMs: lockWaitMs, describe }, options);
}

const MIGRATION_TABLE = `create table if not exists schema_migration (
  name text primary key, sha256 text not null, applied_at timestamptz not null default now())`;

async function applyMissing(client: pg.Client, options: MigrationOptions): Promise<string[]> {
  const known = await listMigrations();
  await takeLock(client, options);
  const { rows: tables } = await client.query(`select to_regclass('schema_migration') as found`);
  // If there is nothing to do, nothing is written, so that a command can read a database that takes no writes.
  if (tables[0].found === null) await client.query(MIGRATION_TABLE);
  const { rows: applied } = await client.query('select name, sha256 from schema_migration order by name');
  refuseUnknownMigrations(known, applied);
  const missing = known.filter(({ name }) => !applied.some((one) => one.name === name));
  refuseGaps(missing, applied);
  for (const migration of missing) {
    throwIfInterrupted(options.signal);
    await apply(client, migration, options);
  }
  return missing.map(({ name }) => name);
}

async function connectTo(connectionString: string): Promise<pg.Client> {
  const client = createClient({
    ...splitAddress(connectionString),
    connectionTimeoutMillis: 10_000,
    application_name: 'sps-migrate',
    ...KEEP_ALIVE,
  });
  // Without a listener, a broken connection would end the process. The statement in progress reports it.
  client.on('error', () => undefined);
  await client.connect().catch(rethrowConnectFailure);
  return client;
}

/** Like `leadsThroughPooler`, which is the first statement. Ends the connection if it is not answered in time. */
async function askFirst(client: pg.Client): Promise<boolean> {
  const timer = setTimeout(() => streamOf(client).destroy(new MigrationError(NO_ANSWER)), FIRST_ANSWER_MS);
  return leadsThroughPooler(client).finally(() => clearTimeout(timer));
}

/** Applies the missing migrations and returns their names. */
export async function migrateToLatest(connectionString: string, options: MigrationOptions = {}): Promise<string[]> {
  const { signal } = options;
  const connect = () => connectTo(connectionString);
  const client = await connect();
  try {
    // Before anything is left in a session that belongs to others.
    const mayShare = await askFirst(client);
    if (mayShare && (await sharesSessions(connectionString))) throw new MigrationError(SHARES_SESSIONS);
    await applySettings(client, SETTINGS);
    await refuseEncoding(client);
    await refuseMissingSchema(client);
    return await runInterruptibly(client, { signal, connect }, () => applyMissing(client, options));
  } catch (error) {
    // Whatever the error says: a statement was cancelled, or a sleep cut short.
    throwIfInterrupted(signal);
    throw error;
  } finally {
    // Behind a pooler the session may outlive us.
    await client.query('select pg_advisory_unlock_all()').catch(() => undefined);
    await client.end();
  }
}
