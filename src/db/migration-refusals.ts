// Databases that are not migrated, and the sentences that say why.
import type pg from 'pg';
import type { Migration } from './migration-files.ts';

/** A database that this program cannot use; the message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/** In another encoding not every text of a request could be kept, nor its length be counted; undefined where it can. */
export function refusalOfEncoding(encoding: string): string | undefined {
  if (encoding === 'UTF8') return undefined;
  return `The database is in the encoding ${encoding}: make one with \`create database … encoding 'UTF8' template template0\`.`;
}

export async function refuseEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show server_encoding');
  const refusal = refusalOfEncoding(rows[0].server_encoding);
  if (refusal) throw new MigrationError(refusal);
}

/** Tables are made in the first schema of the path that is there. */
export async function refuseHomeless(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select current_schema() as home, current_setting('search_path') as path`);
  const { home, path } = rows[0];
  if (home !== null) return;
  throw new MigrationError(
    `The search_path of the role (${path}) names no schema that is there and may be used: make one, or change the path.`,
  );
}

export function refuseStrangers(
  known: readonly Migration[],
  applied: readonly { name: string; sha256: string }[],
): void {
  for (const { name, sha256 } of applied) {
    const migration = known.find((one) => one.name === name);
    if (!migration) {
      throw new MigrationError(
        `The database was migrated by a newer version (${name}): run that version or restore a backup.`,
      );
    }
    if (migration.sha256 !== sha256) {
      throw new MigrationError(
        `The migration ${name} differs from the one that made the database: use the released files.`,
      );
    }
  }
}

/** Migrations are applied in their order; one that came later with an earlier number was never tried after those behind it. */
export function refuseGaps(missing: readonly Migration[], applied: readonly { name: string }[]): void {
  const [first, last] = [missing[0]?.name, applied.at(-1)?.name];
  if (first !== undefined && last !== undefined && first < last) {
    throw new MigrationError(`The database lacks the migration ${first}, but has ${last}: use the released files.`);
  }
}
