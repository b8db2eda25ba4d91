// The dispatcher's own connections, on which the statements of the queue stay prepared: planning them took longer than running them.
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { createDb } from '../db/client.ts';
import type { DB } from '../db/types.ts';

/** One that claims and one that settles. */
export const QUEUE_CONNECTIONS = 2;
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * A plan is kept that may have been made while the queue was empty, when reading all of it costs least (seen: 160 ms per claim,
 * until the table was analyzed). So plans are made for reading by index, and what was read is joined by its hash.
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
    applicationName: 'sps-queue',
    settings: PLANNER,
  };
  return createDb(settings, (err) => log.warn({ err }, 'a database connection broke'));
}
