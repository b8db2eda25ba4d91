// The connections of a service: a pool for each kind of work, so that none waits behind another.
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createDb, type PoolSettings } from './db/client.ts';
import type { Deps } from './deps.ts';
import { QUEUE_CONNECTIONS } from './webhooks/queue-pool.ts';

const STATEMENT_TIMEOUT_MS = 30_000;
/** Requests that wait for a locked profile take up connections that others need. */
const LOCK_TIMEOUT_MS = 5_000;
const LOOKUP_CONNECTIONS = 2;
const GROUP_CONNECTIONS = 4;
const GROUP_LOCK_TIMEOUT_MS = 250;
const PROBE_CONNECTIONS = 1;
const PROBE_TIMEOUT_MS = 5_000;
/**
 * Only a new connection shows whether the database accepts new ones; the probe's own, used every few seconds, would
 * never be closed as idle.
 */
const PROBE_LIFETIME_MS = 30_000;
/** The database announces new deliveries on it. */
const LISTENING_CONNECTIONS = 1;

/** Returns the maximum number of connections that a service uses, including those of its dispatcher. */
export function countConnections({ DATABASE_POOL_SIZE, ANALYTICS_POOL_SIZE }: Config): number {
  const otherConnections =
    LOOKUP_CONNECTIONS + GROUP_CONNECTIONS + PROBE_CONNECTIONS + QUEUE_CONNECTIONS + LISTENING_CONNECTIONS;
  return DATABASE_POOL_SIZE + ANALYTICS_POOL_SIZE + otherConnections;
}

export function openPools(
  config: Config,
  log: Logger,
  shared: Pick<PoolSettings, 'connectionString' | 'onConnect'>,
): Pick<Deps, 'db' | 'lookupDb' | 'groupDb' | 'analyticsDb' | 'probeDb'> {
  const onError = (err: Error) => log.warn({ err }, 'a database connection broke');
  const open = (
    applicationName: string,
    max: number,
    times: Pick<PoolSettings, 'statementTimeoutMs' | 'lockTimeoutMs' | 'lifetimeMs'>,
  ) => createDb({ ...shared, max, ...times, applicationName }, onError);
  const statementTimeoutMs = STATEMENT_TIMEOUT_MS;
  const db = open('sps', config.DATABASE_POOL_SIZE, { statementTimeoutMs, lockTimeoutMs: LOCK_TIMEOUT_MS });
  const lookupDb = open('sps-lookups', LOOKUP_CONNECTIONS, { statementTimeoutMs });
  const groupDb = open('sps-groups', GROUP_CONNECTIONS, { statementTimeoutMs, lockTimeoutMs: GROUP_LOCK_TIMEOUT_MS });
  const analyticsDb = open('sps-analytics', config.ANALYTICS_POOL_SIZE, {
    statementTimeoutMs: config.ANALYTICS_TIMEOUT_MS,
  });
  const probeDb = open('sps-probe', PROBE_CONNECTIONS, {
    statementTimeoutMs: PROBE_TIMEOUT_MS,
    lifetimeMs: PROBE_LIFETIME_MS,
  });
  return { db, lookupDb, groupDb, analyticsDb, probeDb };
}
