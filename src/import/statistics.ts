// Keeps the planner informed while tables grow from nothing. Without statistics it takes a scan of all facts of an app for as good
// as the look-up of one, and the second batch of an import would never end; autovacuum comes round once a minute.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';

interface Outgrown {
  name: string;
  /** Of its primary key, as statements here find their rows. */
  columns: string[];
}

/**
 * Analyzes those of the tables that have more than doubled since that was last done: a handful of times in a large import. The columns of
 * the key alone, as a whole table takes a second; autovacuum, which does not count this, sees to the others.
 */
export async function refreshStatistics(db: Kysely<DB>, tables: readonly (keyof DB)[]): Promise<void> {
  const { rows } = await sql<Outgrown>`
    select c.relname as name, array_agg(a.attname::text) as columns
    from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
    where c.oid = any(${[...tables]}::text[]::regclass[])
      and pg_relation_size(c.oid) > 2 * c.relpages * current_setting('block_size')::bigint
    group by c.relname order by c.relname`.execute(db);
  for (const { name, columns } of rows) {
    await sql`analyze ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})`.execute(db);
  }
}
