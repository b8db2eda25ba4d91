// Keeps the planner informed while tables grow from nothing. In a table that was never analyzed, it expects a few rows
// per app and joins them in nested loops: charts of the first 2,000 profiles took seconds, and the second batch of an
// import would never end. Autovacuum comes once a minute, and only after a tenth of a table has changed: it would never
// notice an app smaller than that, and the planner would take all its rows for a single one.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from './types.ts';

/** All columns of a table this small are analyzed in some ten milliseconds. */
const SMALL_BYTES = 8 * 1024 * 1024;

/** Whether table `c` is more than `times` its size when last analyzed. True only a handful of times per table. */
function hasOutgrown(times: number): RawBuilder<unknown> {
  return sql`pg_relation_size(c.oid) > ${sql.lit(times)} * c.relpages * current_setting('block_size')::bigint`;
}

/** Those tables of the service, as `c`, that it may analyze. */
const OWN_TABLES = sql`pg_class c join pg_namespace n on n.oid = c.relnamespace
  and n.nspname = current_schema() and c.relkind = 'r' and pg_has_role(c.relowner, 'usage')`;

/** Whether the table `c` is one of the given tables; true if none are given. */
function isOneOf(tables: readonly (keyof DB)[] | undefined): RawBuilder<unknown> {
  return sql`(${tables ?? null}::text[] is null or c.relname = any(${tables ?? null}::text[]))`;
}

/** Analyzes the given columns, or all. Skips a table that somebody else has locked, as vacuum does. */
async function analyze(db: Kysely<DB>, table: string, columns: readonly string[] = []): Promise<void> {
  const columnList = columns.length > 0 ? sql`(${sql.join(columns.map((column) => sql.ref(column)))})` : sql``;
  await sql`analyze (skip_locked) ${sql.table(table)} ${columnList}`.execute(db);
}

interface Outgrown {
  name: string;
  /** Those of its primary key, by which statements of imports find their rows. */
  columns: string[];
}

/**
 * Analyzes those of the tables that are more than four times as large as when that was last done, except those that
 * somebody else has locked. Analyzes only the columns of the key, as a whole table takes a second; autovacuum, which
 * does not count this, sees to the other columns.
 */
export async function analyzeKeys(db: Kysely<DB>, tables: readonly (keyof DB)[]): Promise<void> {
  const { rows } = await sql<Outgrown>`
    select c.relname as name, array_agg(a.attname::text) as columns
    from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
    where c.oid = any(${[...tables]}::text[]::regclass[]) and ${hasOutgrown(4)}
    group by c.relname order by c.relname`.execute(db);
  for (const { name, columns } of rows) await analyze(db, name, columns);
}

/**
 * Analyzes small tables (of those given, or of all) that have more than doubled since that was last done. Skips those
 * that somebody else has locked.
 */
export async function analyzeSmallTables(db: Kysely<DB>, tables?: readonly (keyof DB)[]): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from ${OWN_TABLES}
    where ${hasOutgrown(2)} and pg_relation_size(c.oid) <= ${SMALL_BYTES} and ${isOneOf(tables)}
    order by c.relname`.execute(db);
  for (const { name } of rows) await analyze(db, name);
}

/**
 * Statistics should know of an app that has this many rows in a table or, in a large table, enough of them that ten are
 * in a sample of 30,000.
 */
const MIN_ROWS = 500;
const SAMPLED_TENTH = 3_000;
/** Given more apps than this, statistics list the most common ones and have an average for the others. */
const MOST_COMMON = 100;

/**
 * How many rows the planner expects of an app that is not among the most common in the statistics `s` of the table `c`.
 * If many apps have about the same size, most never get there: without this estimate we would look for them for ever.
 */
const AVERAGE_OF_OTHERS = sql`c.reltuples * (1 - (select sum(f) from unnest(s.most_common_freqs) f)) / greatest(
  case when s.n_distinct < 0 then -s.n_distinct * c.reltuples else s.n_distinct end - cardinality(s.most_common_freqs), 1)`;

interface UnknownApp {
  name: string;
  column: string;
  value: string;
  /** Analyzing is worthwhile if the app has this many rows. */
  min_rows: number;
}

/**
 * Lists tables, each with an app that its statistics do not know, if the planner expects few rows of such an app.
 * Considers the given tables and app, or all.
 */
async function listUnknownApps(
  db: Kysely<DB>,
  { tables, appKey }: { tables?: readonly (keyof DB)[]; appKey?: number },
) {
  const { rows } = await sql<UnknownApp>`
    select c.relname as name, s.attname as column, v.value, l.min_rows
    from ${OWN_TABLES}
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0] and a.attname in ('app_id', 'app_key')
    join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname
    cross join app
    cross join lateral (select case a.attname when 'app_id' then app.app_id::text else app.app_key::text end) v (value)
    cross join lateral (
      select greatest(${MIN_ROWS}::integer, ceil(c.reltuples / ${SAMPLED_TENTH}::float8)::integer)) l (min_rows)
    where ${isOneOf(tables)}
      and (${appKey ?? null}::integer is null or app.app_key = ${appKey ?? null})
      and cardinality(s.most_common_freqs) < ${MOST_COMMON}::integer
      and v.value <> all(s.most_common_vals::text::text[])
      and ${AVERAGE_OF_OTHERS} < l.min_rows
    order by 1, 3`.execute(db);
  return rows;
}

/**
 * Analyzes the app column of those tables whose statistics do not know of an app with many rows there. Skips tables
 * that somebody else has locked.
 */
export async function analyzeApps(
  db: Kysely<DB>,
  which: { tables?: readonly (keyof DB)[]; appKey?: number } = {},
): Promise<void> {
  const analyzed = new Set<string>();
  for (const { name, column, value, min_rows } of await listUnknownApps(db, which)) {
    if (analyzed.has(name)) continue;
    const { rows } = await sql<{ has_many: boolean }>`
      select count(*) = ${min_rows}::integer as has_many
      from (select from ${sql.table(name)} where ${sql.ref(column)} = ${value} limit ${min_rows}) found`.execute(db);
    if (!rows[0]?.has_many) continue;
    await analyze(db, name, [column]);
    analyzed.add(name);
  }
}
