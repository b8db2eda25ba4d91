// When a connection is given up. An answer of the database is waited for so long, those of statements ahead of it on the connection included:
// the server ends what takes too long by itself; one that has died without a word, or that no packet reaches any more, would be waited for
// until TCP gives up, which takes a quarter of an hour.
import type { Duplex } from 'node:stream';
import { CompiledQuery, type Kysely } from 'kysely';
import type pg from 'pg';
import { isReadOnly } from './failures.ts';
import type { DB } from './types.ts';

/** For the server's own time-out to arrive first. */
const MARGIN_MS = 5_000;
/** A session that was begun just now knows what its database is. */
const NEW_MS = 1_000;
const RAISE_TIMEOUT = "select set_config('statement_timeout', $1, true)";

/** A longer time-out for the statements of a transaction, on both sides. */
export async function raiseTimeout(trx: Kysely<DB>, timeoutMs: number): Promise<void> {
  await trx.executeQuery(CompiledQuery.raw(RAISE_TIMEOUT, [String(timeoutMs)]));
}

interface Statement {
  text: string;
  values: unknown[];
  name?: string;
}

export interface BoundedClient {
  query: (statement: Statement) => Promise<pg.QueryResult>;
  /** Work on the connection that is one statement for the server: COPY. */
  within: <T>(work: () => Promise<T>) => Promise<T>;
  release: () => void;
}

/** The socket of a connection. */
export function streamOf(client: pg.PoolClient): Duplex {
  return (client as unknown as { connection: pg.Connection }).connection.stream;
}

/**
 * A connection that is broken off when a statement has no answer in time: the driver fails the statement, the pool drops it. So it does with one on
 * which nothing could be written: whether its database is read-only a session asks when it begins, and never again.
 */
export function boundStatements(client: pg.PoolClient, timeoutMs: number): BoundedClient {
  const began = performance.now();
  let longestMs = timeoutMs;
  let isOutdated = false;
  const stream = streamOf(client);

  async function within<T>(work: () => Promise<T>): Promise<T> {
    // To fail the statement alone would leave the next one behind it.
    const timer = setTimeout(() => stream.destroy(), longestMs + MARGIN_MS);
    try {
      return await work();
    } catch (error) {
      if (isReadOnly(error)) isOutdated = performance.now() - began > NEW_MS;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    query(statement) {
      if (statement.text === RAISE_TIMEOUT) longestMs = Number(statement.values[0]);
      return within(() => client.query(statement));
    },
    within,
    release() {
      longestMs = timeoutMs;
      client.release(isOutdated);
    },
  };
}
