// A test file's own database, cloned from the template. All go with their server when the run ends (global.ts).
import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import pg from 'pg';
import { inject } from 'vitest';
import { createDb } from '../../src/db/client.ts';
import type { DB } from '../../src/db/types.ts';

export interface TestDatabase {
  url: string;
  db: Kysely<DB>;
  close: () => Promise<void>;
}

/** Connections in a test's own pool. */
export const POOL = 5;

let pool: pg.Pool | undefined;

/** One connection for all files of a worker: opening one costs nearly as much as creating a database. */
function adminPool(): pg.Pool {
  if (!pool) {
    const connectionString = inject('postgresUrl');
    pool = new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
    // The server may end before a worker that is slow to exit.
    pool.on('error', () => undefined);
  }
  return pool;
}

/** `like` says how to make it. As nothing is synced, copying files is faster than logging pages. */
export async function createTestDatabase(
  like = `template ${inject('templateName')} strategy file_copy`,
): Promise<TestDatabase> {
  const name = `sps_test_${randomBytes(6).toString('hex')}`;
  await adminPool().query(`create database ${name} ${like}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = name;
  const db = createDb(
    { connectionString: url.href, max: POOL, statementTimeoutMs: 60_000, applicationName: 'sps-test' },
    () => {},
  );
  return {
    url: url.href,
    db,
    close: () => db.destroy(),
  };
}
