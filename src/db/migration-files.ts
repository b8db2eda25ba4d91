// The migrations of this program, and which of them a database has.
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import type { DB } from './types.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);

export interface Migration {
  name: string;
  sql: string;
  sha256: string;
}

let names: Promise<string[]> | undefined;

/** Lists the migrations of this program in order; the folder is read once. */
function listNames(): Promise<string[]> {
  names ??= readdir(FOLDER).then((all) => all.filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort());
  return names;
}

/** Reads the migrations, in order. */
export async function listMigrations(): Promise<Migration[]> {
  return Promise.all(
    (await listNames()).map(async (name) => {
      const sql = await readFile(new URL(name, FOLDER), 'utf8');
      return { name, sql, sha256: hash('sha256', sql) };
    }),
  );
}

/** Whether migrations were ever applied. */
export async function isMigrated(db: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql<{ is_migrated: boolean }>`
    select to_regclass('schema_migration') is not null as is_migrated`.execute(db);
  return rows[0]?.is_migrated === true;
}

/** Names the migrations that the database has, those that it lacks, and those that only a newer program knows. */
export async function compareMigrations(db: Kysely<DB>): Promise<Record<'applied' | 'missing' | 'unknown', string[]>> {
  const { rows } = await sql<{ name: string }>`select name from schema_migration order by name`.execute(db);
  const applied = rows.map(({ name }) => name);
  const known = await listNames();
  return {
    applied,
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}
