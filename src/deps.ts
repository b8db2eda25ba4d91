// What a feature may depend on. Made in service.ts, for commands in cli/perform.ts (and in tests), and handed to every
// service.
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { ServerRun } from './db/server-run.ts';
import type { DB } from './db/types.ts';

/** What every operation needs to know about an app. */
export interface App {
  app_id: string;
  app_key: number;
  timezone: string;
  profile_shape: 'dictionary' | 'array';
  attribution_policy: 'last' | 'first';
  sharing: 'refuse' | 'transfer';
}

export interface Deps {
  /** For requests and background work, except what the pools below are for. */
  db: Kysely<DB>;
  /**
   * For what a request needs first: its key, or the version of a kept answer. Nothing waits for a lock on these two
   * connections.
   */
  lookupDb: Kysely<DB>;
  /**
   * For groups of attribution posts and their labels. No other waiting work keeps these connections busy, and a group
   * gives up on a lock early.
   */
  groupDb: Kysely<DB>;
  /** For charts and the event feed: a small pool of its own, so that a heavy chart never starves a grant. */
  analyticsDb: Kysely<DB>;
  /** One connection for probes, so that a probe does not queue behind whatever keeps the other connections busy. */
  probeDb: Kysely<DB>;
  /** For code that caches what is in the database. */
  serverRun: Pick<ServerRun, 'number'>;
  config: Config;
  log: Logger;
  /**
   * The database's clock as this process knows it (db/clock.ts). It dates chart requests, retries and retention of
   * webhooks, kept responses, and imports. Changes to a profile are dated by the database itself, under the profile's
   * lock.
   */
  now: () => Date;
}
