// Keeps the planner informed while tables grow from nothing. Without statistics it takes a scan of all facts of an app for as good
// as the look-up of one, and the second batch of an import would never end; autovacuum comes round once a minute.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/** Analyzes those of the tables that have at least doubled by what was written: a handful of times in a large import. */
export async function refreshStatistics(
  db: Kysely<DB>,
  { tables, written }: { tables: readonly (keyof DB)[]; written: number },
): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where oid = any(${[...tables]}::text[]::regclass[]) and reltuples * 2 < ${written}
    order by relname`.execute(db);
  for (const { name } of rows) await sql`analyze ${sql.table(name)}`.execute(db);
}
