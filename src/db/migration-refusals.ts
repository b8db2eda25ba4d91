// Refuses databases that cannot be migrated, with a message that says why.
import type pg from 'pg';
import type { Migration } from './migration-files.ts';

/** A database that this program cannot use; the message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/**
 * Returns why a database with this encoding is refused; undefined for UTF8. With any other encoding, some texts of
 * requests could not be stored, nor their length be counted.
 */
export function refusalOfEncoding(encoding: string): string | undefined {
  if (encoding === 'UTF8') return undefined;
  return `The database uses the encoding ${encoding}: create one with \`create database … encoding 'UTF8' template template0\`.`;
}

export async function refuseEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show server_encoding');
  const refusal = refusalOfEncoding(rows[0].server_encoding);
  if (refusal) throw new MigrationError(refusal);
}

/** Throws if the search path has no schema to put tables in: they are created in the first one that exists. */
export async function refuseMissingSchema(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select current_schema() as home, current_setting('search_path') as path`);
  const { home, path } = rows[0];
  if (home !== null) return;
  throw new MigrationError(
    `The role's search_path (${path}) contains no usable schema: create one, or change the path.`,
  );
}

export function refuseUnknownMigrations(
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
        `Migration ${name} differs from the one that was applied to this database: use the released files.`,
      );
    }
  }
}

/** Throws if a missing migration comes before an applied one: it was never tried after those that follow it. */
export function refuseGaps(missing: readonly Migration[], applied: readonly { name: string }[]): void {
  const [first, last] = [missing[0]?.name, applied.at(-1)?.name];
  if (first !== undefined && last !== undefined && first < last) {
    throw new MigrationError(`The database lacks migration ${first} but has ${last}: use the released files.`);
  }
}
