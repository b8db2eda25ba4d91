// The dispatcher's own connections. The queue's statements stay prepared on them: planning took longer than running.
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { createDb } from '../db/client.ts';
import type { DB } from '../db/types.ts';

/** One claims, the other settles. */
export const QUEUE_CONNECTIONS = 2;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Results of every endpoint wait while the health of one whose row is locked is recorded. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * A cached plan may date from a time when the queue was empty and reading all of it was cheapest (seen: 160 ms per
 * claim, until the table was analyzed). These settings force plans that use index scans and hash joins.
 */
const PLANNER = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_nestloop: 'off',
  enable_mergejoin: 'off',
};

export function openQueuePool(connectionString: string, log: Logger): Kysely<DB> {
  const settings = {
    connectionString,
    max: QUEUE_CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    applicationName: 'sps-queue',
    settings: PLANNER,
  };
  return createDb(settings, (err) => log.warn({ err }, 'a database connection broke'));
}
