// Allows one import of a file at a time: two would overwrite each other's rejects.
import { realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { sql } from 'kysely';
import { FILE_SEED } from '../db/advisory-locks.ts';
import type { Session } from '../db/session.ts';
import { OperatorError } from '../operator-error.ts';

/** A link to /dev/stdin that leads to a pipe without a path is known by its own. */
async function pathOf(file: string): Promise<string> {
  return realpath(file).catch(async () => join(await realpath(dirname(file)), basename(file)));
}

/** Locks the file until the session ends, even if by kill -9. Throws an OperatorError if another session holds it. */
export async function lockFile({ db }: Session, file: string): Promise<void> {
  const name = JSON.stringify([hostname(), await pathOf(file)]);
  const { rows } = await sql<{ is_free: boolean }>`
    select pg_try_advisory_lock(hashtextextended(${name}, ${FILE_SEED})) as is_free`.execute(db);
  if (rows[0]?.is_free) return;
  throw new OperatorError(
    `${file} is already being imported: wait for that import to finish. If it was killed, the database may still be writing its last records: try again in half a minute.`,
  );
}
