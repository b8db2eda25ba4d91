// What a feature may ask for. Made in service.ts, for commands in cli/perform.ts (and in tests), handed to every service.
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { ServerRun } from './db/server-run.ts';
import type { DB } from './db/types.ts';

/** An app as every operation needs to know it. */
export interface App {
  app_id: string;
  app_key: number;
  timezone: string;
  profile_shape: 'dictionary' | 'array';
  attribution_policy: 'last' | 'first';
  sharing: 'refuse' | 'transfer';
}

export interface Deps {
  /** Requests and background work, but for what the pools below are for. */
  db: Kysely<DB>;
  /** What a request needs first: its key, or the version of a kept answer. Nobody waits for a lock on these two connections. */
  lookupDb: Kysely<DB>;
  /** Groups of attribution posts, with their labels: whatever else waits keeps none of these busy, and a group gives up a lock early. */
  groupDb: Kysely<DB>;
  /** Charts and the event feed: a small pool of its own, so that a heavy chart never starves a grant. */
  analyticsDb: Kysely<DB>;
  /** One connection for probes: whether the database answers is not to be asked behind what keeps the others busy. */
  probeDb: Kysely<DB>;
  /** For whoever remembers what is in the database. */
  serverRun: Pick<ServerRun, 'number'>;
  config: Config;
  log: Logger;
  /**
   * The database's clock as this process knows it (db/clock.ts). Dates questions of charts, retries and retention of webhooks, kept
   * answers and imports. What is written of a profile is dated by the database itself, under the profile's lock.
   */
  now: () => Date;
}
