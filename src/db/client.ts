// Pools of connections and their time-outs. Times, dates and numerics stay text (a JS Date drops microseconds),
// 64-bit integers become bigint.
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { clientClass } from './client-class.ts';
import { watchPool } from './metrics.ts';
import { lendPrepared } from './prepared.ts';
import type { DB } from './types.ts';

const KEPT_AS_TEXT = [pg.types.builtins.TIMESTAMPTZ, pg.types.builtins.DATE, pg.types.builtins.NUMERIC];
const TIMESTAMPTZ_ARRAY = 1185;
const INT8_ARRAY = 1016;

const parsers = new pg.TypeOverrides();
for (const oid of KEPT_AS_TEXT) parsers.setTypeParser(oid, (text: string) => text);
parsers.setTypeParser(pg.types.builtins.INT8, BigInt);
const parseTextArray = pg.types.getTypeParser(1009 as never, 'text') as (text: string) => (string | null)[];
parsers.setTypeParser(TIMESTAMPTZ_ARRAY as never, parseTextArray as never);
parsers.setTypeParser(
  INT8_ARRAY as never,
  ((text: string) => parseTextArray(text).map((one) => one && BigInt(one))) as never,
);

/** Tells within half a minute of a server that has died without a word. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

export interface PoolSettings {
  connectionString: string;
  max: number;
  /** Longest statement, in milliseconds. */
  statementTimeoutMs: number;
  /** Longest wait for a lock, in milliseconds: 10 s unless given. */
  lockTimeoutMs?: number | undefined;
  /** After which a connection is replaced by another: unless given it lives as long as it is used. */
  lifetimeMs?: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Whether its connections are used for COPY, beside which no statements can be under way at once (overlap.ts). */
  takesCopy?: boolean;
  /** To be done with each new connection before it is used. */
  onConnect?: (client: pg.ClientBase) => Promise<void>;
  /** Further settings of its sessions. */
  settings?: Record<string, string>;
}

const CONNECTING_MS = 5_000;

/** What the driver takes from an address for settings of a session: those are ours. */
const SESSION_PARAMETERS = [
  'options',
  'client_encoding',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
];

/** What the driver is given of an address: it without settings, which would hold instead of ours, and its `options`, which may hold beside them. */
export function splitAddress(address: string): { connectionString: string; options?: string } {
  const url = new URL(address);
  if (!SESSION_PARAMETERS.some((name) => url.searchParams.has(name))) return { connectionString: address };
  const options = url.searchParams.getAll('options');
  for (const name of SESSION_PARAMETERS) url.searchParams.delete(name);
  return { connectionString: url.href, ...(options.length > 0 && { options: options.join(' ') }) };
}

/**
 * Sets them for the session, those that this version of PostgreSQL has. By a statement, which any pooler that keeps a session for each client
 * passes on: PgBouncer refuses them where a connection begins.
 */
export async function applySettings(client: pg.ClientBase, settings: Record<string, string>): Promise<void> {
  const query = {
    text: `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as t (name, value)
      where name <> 'transaction_timeout' or current_setting(name, true) is not null`,
    values: [Object.keys(settings), Object.values(settings)],
    query_timeout: CONNECTING_MS,
  };
  await client.query(query);
}

/** A pool with lock, statement and idle-in-transaction time-outs; `onError` hears of idle connections that break. */
export function createPool(settings: PoolSettings, onError: (error: Error) => void): pg.Pool {
  const target = splitAddress(settings.connectionString);
  const { statementTimeoutMs, lockTimeoutMs = 10_000, lifetimeMs = 0, onConnect } = settings;
  const sessionSettings = {
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(Math.min(statementTimeoutMs, lockTimeoutMs)),
    idle_in_transaction_session_timeout: '60000',
    // Whatever role and database have: the locks are made for the first, statements are written for the next three, and how long a session or a
    // transaction takes is ours to bound.
    default_transaction_isolation: 'read committed',
    array_nulls: 'on',
    standard_conforming_strings: 'on',
    extra_float_digits: '1',
    idle_session_timeout: '0',
    transaction_timeout: '0',
    timezone: 'UTC',
    datestyle: 'ISO',
    // Compiling a plan took up to a second (PostgreSQL 15), which no statement here wins back.
    jit: 'off',
    ...settings.settings,
  };
  const pool = new pg.Pool({
    ...target,
    Client: clientClass(target.connectionString),
    max: settings.max,
    application_name: settings.applicationName,
    connectionTimeoutMillis: CONNECTING_MS,
    idleTimeoutMillis: 60_000,
    maxLifetimeSeconds: lifetimeMs / 1000,
    ...KEEP_ALIVE,
    types: parsers,
    pipeline: !settings.takesCopy,
    // The pool awaits it before it lends the client.
    async onConnect(client) {
      await applySettings(client, sessionSettings);
      await onConnect?.(client);
    },
  });
  watchPool(pool, settings.applicationName);
  pool.on('error', onError);
  // A client that is lent and between two statements has no other listener, and its breaking would end the process; the next
  // statement hears of it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The same for Kysely, by which nearly all statements are sent. */
export function createDb(settings: PoolSettings, onError: (error: Error) => void): Kysely<DB> {
  const pool = createPool(settings, onError);
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool: lendPrepared(pool, settings.statementTimeoutMs) }) });
}
