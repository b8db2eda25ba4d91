// One connection for statements and for COPY: what the one begins, the other continues.
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { createPool, type PoolSettings } from './client.ts';
import { type CopyTarget, copyRows } from './copy.ts';
import type { CopyValue } from './copy-row.ts';
import { boundStatements } from './deadline.ts';
import type { DB } from './types.ts';

export interface Session {
  /** One statement or transaction at a time. */
  db: Kysely<DB>;
  /** Copies rows into a table, within the transaction that `db` has begun. Waited for as long as for a statement. */
  copy: (target: CopyTarget, rows: Iterable<readonly CopyValue[]>) => Promise<void>;
  /** Of the driver, for what is waited for without end. */
  client: pg.ClientBase;
  /** Resolves when the server has let go of what the session had locked. */
  close: () => Promise<void>;
}

/** A server that cannot be reached does not say when it hangs up. */
const LONGEST_CLOSE_MS = 5_000;

/** Connects, within 5 s. Statements take no longer than the settings say, in the server and, should it not answer, here. */
export async function openSession(settings: Omit<PoolSettings, 'max' | 'takesCopy'>): Promise<Session> {
  // The next statement hears of a broken connection by itself.
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
      // Not `once`, which fails where the connection breaks meanwhile.
      const hungUp = new Promise((resolve) => pool.once('remove', resolve));
      client.release(true);
      await Promise.race([hungUp, sleep(LONGEST_CLOSE_MS, undefined, { ref: false })]);
      await pool.end();
    },
  };
}
