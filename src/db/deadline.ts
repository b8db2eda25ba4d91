// Decides when to give up a connection. The server itself ends statements that take too long. But if it has died
// silently or no packet reaches it any more, we would wait until TCP gives up, which takes a quarter of an hour. So the
// wait for an answer is limited, including the answers to statements ahead of it on the connection.
import type { Duplex } from 'node:stream';
import { CompiledQuery, type Kysely } from 'kysely';
import type pg from 'pg';
import { isOtherSession, isReadOnly } from './failures.ts';
import type { DB } from './types.ts';

/** Lets the server's own timeout arrive first. */
const MARGIN_MS = 5_000;
/** A session younger than this knows whether its database is read-only. */
const NEW_MS = 1_000;
const RAISE_TIMEOUT = "select set_config('statement_timeout', $1, true)";

/** Gives the statements of a transaction a longer timeout, both in the server and here. */
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
  /** Does work on the connection that is one statement to the server: COPY. */
  within: <T>(work: () => Promise<T>) => Promise<T>;
  release: () => void;
}

/** Returns the socket of a connection. */
export function streamOf(client: pg.ClientBase): Duplex {
  return (client as unknown as { connection: pg.Connection }).connection.stream;
}

/**
 * Limits how long statements on a connection wait for their answers. When time is up the socket is destroyed: the
 * driver fails the statement and the pool drops the connection. A connection on which a write was refused as read-only
 * is dropped as well, because a session determines that when it begins and never again; so is one that leads to
 * another session, in which its statements are not prepared.
 */
export function boundStatements(client: pg.PoolClient, timeoutMs: number): BoundedClient {
  const began = performance.now();
  let currentTimeoutMs = timeoutMs;
  let isOutdated = false;
  const stream = streamOf(client);

  async function within<T>(work: () => Promise<T>): Promise<T> {
    // Failing the statement alone would leave the next one queued behind it.
    const timer = setTimeout(() => stream.destroy(), currentTimeoutMs + MARGIN_MS);
    try {
      return await work();
    } catch (error) {
      if (isReadOnly(error)) isOutdated = performance.now() - began > NEW_MS;
      if (isOtherSession(error)) isOutdated = true;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    query(statement) {
      if (statement.text === RAISE_TIMEOUT) currentTimeoutMs = Number(statement.values[0]);
      return within(() => client.query(statement));
    },
    within,
    release() {
      currentTimeoutMs = timeoutMs;
      client.release(isOutdated);
    },
  };
}
