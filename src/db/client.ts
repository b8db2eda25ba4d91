// Connection pools and their timeouts. Times, dates and numerics stay text (a JS Date drops microseconds); 64-bit
// integers become bigint.
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { clientClass } from './client-class.ts';
import { watchPool } from './metrics.ts';
import { wrapPool } from './prepared.ts';
import type { DB } from './types.ts';

const KEPT_AS_TEXT = [pg.types.builtins.TIMESTAMPTZ, pg.types.builtins.DATE, pg.types.builtins.NUMERIC];
const TEXT_ARRAY = 1009;
const TIMESTAMPTZ_ARRAY = 1185;
const INT8_ARRAY = 1016;

const parsers = new pg.TypeOverrides();
for (const oid of KEPT_AS_TEXT) parsers.setTypeParser(oid, (text: string) => text);
parsers.setTypeParser(pg.types.builtins.INT8, BigInt);
const parseTextArray = pg.types.getTypeParser(TEXT_ARRAY as never, 'text') as (text: string) => (string | null)[];
parsers.setTypeParser(TIMESTAMPTZ_ARRAY as never, parseTextArray as never);
parsers.setTypeParser(
  INT8_ARRAY as never,
  ((text: string) => parseTextArray(text).map((one) => one && BigInt(one))) as never,
);

/** Detects within half a minute that a server has died silently. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

export interface PoolSettings {
  connectionString: string;
  max: number;
  /** Longest statement, in milliseconds. */
  statementTimeoutMs: number;
  /** Longest wait for a lock, in milliseconds; 10 s by default. */
  lockTimeoutMs?: number | undefined;
  /** Milliseconds after which a connection is replaced by another. By default it lives as long as it is used. */
  lifetimeMs?: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Whether its connections are used for COPY, which rules out overlapping statements (overlap.ts). */
  takesCopy?: boolean;
  /** Called with each new connection before it is used. */
  onConnect?: (client: pg.ClientBase) => Promise<void>;
  /** Further session settings. */
  settings?: Record<string, string>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Parameters of an address that the driver would make session settings; those are ours to choose. */
const SESSION_PARAMETERS = [
  'options',
  'client_encoding',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
];

/**
 * Splits an address into the two parts that the driver is given: the address without session settings, which would
 * override ours, and its `options`, which may apply in addition to ours.
 */
export function splitAddress(address: string): { connectionString: string; options?: string } {
  const url = new URL(address);
  if (!SESSION_PARAMETERS.some((name) => url.searchParams.has(name))) return { connectionString: address };
  const options = url.searchParams.getAll('options');
  for (const name of SESSION_PARAMETERS) url.searchParams.delete(name);
  return { connectionString: url.href, ...(options.length > 0 && { options: options.join(' ') }) };
}

/**
 * Applies settings to the session; `transaction_timeout` only if this version of PostgreSQL has it. Uses a statement,
 * which any pooler that keeps a session per client passes on: PgBouncer refuses settings at the start of a connection.
 */
export async function applySettings(client: pg.ClientBase, settings: Record<string, string>): Promise<void> {
  const query = {
    text: `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as t (name, value)
      where name <> 'transaction_timeout' or current_setting(name, true) is not null`,
    values: [Object.keys(settings), Object.values(settings)],
    query_timeout: CONNECT_TIMEOUT_MS,
  };
  await client.query(query);
}

/** Creates a pool with lock, statement and idle-in-transaction timeouts. `onError` gets errors of idle connections. */
export function createPool(settings: PoolSettings, onError: (error: Error) => void): pg.Pool {
  const target = splitAddress(settings.connectionString);
  const { statementTimeoutMs, lockTimeoutMs = 10_000, lifetimeMs = 0, onConnect } = settings;
  const sessionSettings = {
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(Math.min(statementTimeoutMs, lockTimeoutMs)),
    idle_in_transaction_session_timeout: '60000',
    // These override the defaults of role and database: our locking is designed for the first, our statements are
    // written for the next three, and how long a session or a transaction may take is ours to limit.
    default_transaction_isolation: 'read committed',
    array_nulls: 'on',
    standard_conforming_strings: 'on',
    extra_float_digits: '1',
    idle_session_timeout: '0',
    transaction_timeout: '0',
    timezone: 'UTC',
    datestyle: 'ISO',
    // Compiling a plan took up to a second (PostgreSQL 15), which no statement here recoups.
    jit: 'off',
    ...settings.settings,
  };
  const pool = new pg.Pool({
    ...target,
    Client: clientClass(target.connectionString),
    max: settings.max,
    application_name: settings.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    maxLifetimeSeconds: lifetimeMs / 1000,
    ...KEEP_ALIVE,
    types: parsers,
    pipeline: !settings.takesCopy,
    // The pool awaits this before it lends the client.
    async onConnect(client) {
      await applySettings(client, sessionSettings);
      await onConnect?.(client);
    },
  });
  watchPool(pool, settings.applicationName);
  pool.on('error', onError);
  // A lent client has no other listener between two statements, so a broken connection would end the process. The next
  // statement reports it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Creates a pool for Kysely, through which nearly all statements are sent. */
export function createDb(settings: PoolSettings, onError: (error: Error) => void): Kysely<DB> {
  const pool = createPool(settings, onError);
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool: wrapPool(pool, settings.statementTimeoutMs) }) });
}
