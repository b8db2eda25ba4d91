// One connection for both statements and COPY, so that both can take part in one transaction.
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { createPool, type PoolSettings } from './client.ts';
import { type CopyTarget, copyRows } from './copy.ts';
import type { CopyValue } from './copy-row.ts';
import { boundStatements } from './deadline.ts';
import type { DB } from './types.ts';

export interface Session {
  /** Runs one statement or transaction at a time. */
  db: Kysely<DB>;
  /** Copies rows into a table, within the transaction that `db` has begun. Its time limit is that of a statement. */
  copy: (target: CopyTarget, rows: Iterable<readonly CopyValue[]>) => Promise<void>;
  /** The driver's client, for statements without a time limit. */
  client: pg.ClientBase;
  /** Closes the session. Resolves when the server has released its locks. */
  close: () => Promise<void>;
}

/** Limit on waiting for the server to hang up: if it cannot be reached, we never hear that it did. */
const MAX_CLOSE_MS = 5_000;

/** Connects, within 5 s. The time limit of statements is enforced by the server and, should it not answer, here. */
export async function openSession(settings: Omit<PoolSettings, 'max' | 'takesCopy'>): Promise<Session> {
  // The next statement reports a broken connection by itself.
  const pool = createPool({ ...settings, max: 1, takesCopy: true }, () => undefined);
  const client = await pool.connect();
  client.on('error', () => undefined);
  const { query, within } = boundStatements(client, settings.statementTimeoutMs);
  const lent = {
    query: ((text: string, values: unknown[]) => query({ text, values })) as never,
    release: () => undefined,
  };
  const dialect = new PostgresDialect({ pool: { connect: async () => lent, end: async () => undefined } });
  return {
    db: new Kysely<DB>({ dialect }),
    copy: (target, rows) => within(() => copyRows(client, target, rows)),
    client,
    close: async () => {
      // Not `once` of node:events, which rejects if the connection breaks meanwhile.
      const hungUp = new Promise((resolve) => pool.once('remove', resolve));
      client.release(true);
      await Promise.race([hungUp, sleep(MAX_CLOSE_MS, undefined, { ref: false })]);
      await pool.end();
    },
  };
}
