// Keeps the planner informed while tables grow from nothing. Of a table that was never analyzed it expects a few rows of each app, and joins
// what it takes for a few in nested loops: charts of the first 2,000 profiles took seconds, and the second batch of an import would never
// end. Autovacuum comes round once a minute.
import { type Kysely, sql } from 'kysely';
import type { DB } from './types.ts';

/** All columns of such a table are analyzed in some ten milliseconds. */
const SMALL_BYTES = 8 * 1024 * 1024;

/** Of the table `c`: it has more than doubled since it was last analyzed, which happens to a table a handful of times. */
const HAS_DOUBLED = sql`pg_relation_size(c.oid) > 2 * c.relpages * current_setting('block_size')::bigint`;

interface Outgrown {
  name: string;
  /** Of its primary key, as statements of imports find their rows. */
  columns: string[];
}

/**
 * Analyzes those of the tables that have more than doubled since that was last done. The columns of the key alone, as a whole table takes a
 * second; autovacuum, which does not count this, sees to the others. Not those that somebody else holds, as vacuum does.
 */
export async function analyzeKeys(db: Kysely<DB>, tables: readonly (keyof DB)[]): Promise<void> {
  const { rows } = await sql<Outgrown>`
    select c.relname as name, array_agg(a.attname::text) as columns
    from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
    where c.oid = any(${[...tables]}::text[]::regclass[]) and ${HAS_DOUBLED}
    group by c.relname order by c.relname`.execute(db);
  for (const { name, columns } of rows) {
    await sql`analyze (skip_locked) ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})`.execute(
      db,
    );
  }
}

/** Analyzes small tables that have more than doubled since that was last done; not those that somebody else holds. */
export async function analyzeSmallTables(db: Kysely<DB>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind = 'r' and pg_has_role(c.relowner, 'usage')
      and ${HAS_DOUBLED} and pg_relation_size(c.oid) <= ${SMALL_BYTES}
    order by c.relname`.execute(db);
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db);
}
