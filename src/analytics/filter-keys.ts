// Translates the values of filters into the keys by which facts store them.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { jsonList } from '../db/lists.ts';
import type { DB } from '../db/types.ts';
import type { Filter } from './filters.ts';

/** The most keys that a statement lists. */
const MAX_LISTED = 1000;

/** A filter with the keys that stand for its values, or without them if there are too many to list. */
export interface KeyedFilter extends Filter {
  keys?: number[];
}

/** Returns the keys that stand for the values of a filter: a list, or a subquery that selects them. */
function matchingKeys({ dimension: { home }, values, keys }: KeyedFilter): number[] | RawBuilder<{ key: number }> {
  if ('codes' in home) return values.map((value) => home.codes.indexOf(value));
  const [key, value] = [sql.ref(home.column), sql.ref(home.value)];
  return (
    keys ??
    sql`select ${key} as key from ${sql.table(home.table)} where coalesce(${value}, '') = any(${[...values]}::text[])`
  );
}

/**
 * Reads the keys that stand for the values of a filter, at most `limit` of them. They come as one list: with many
 * labels, a row for each would hold other requests up.
 */
export async function listKeys(db: Kysely<DB>, filter: KeyedFilter, limit: number): Promise<number[]> {
  const keys = matchingKeys(filter);
  if (Array.isArray(keys)) return keys;
  const { rows } = await sql<{ keys: number[] }>`
    select ${jsonList('key', 'keys')} from (${keys} limit ${limit}) k`.execute(db);
  return rows[0]!.keys;
}

export async function withKeys(db: Kysely<DB>, filters: readonly Filter[]): Promise<KeyedFilter[]> {
  const keyed: KeyedFilter[] = [];
  for (const filter of filters) {
    const keys = await listKeys(db, filter, MAX_LISTED + 1);
    keyed.push(keys.length > MAX_LISTED ? filter : { ...filter, keys });
  }
  return keyed;
}

/**
 * Tests whether a key of the filter's dimension stands for one of its values. The `case` hides the comparison from the
 * planner, which would otherwise expect few rows, choose nested loops and read a year of facts once per advertisement.
 * `is true` keeps it from turning a subquery (used if there are too many keys for a list) into a join.
 */
export function hasValue(key: RawBuilder<unknown>, filter: KeyedFilter): RawBuilder<unknown> {
  const keys = matchingKeys(filter);
  return Array.isArray(keys)
    ? sql`case when ${key} = any(${keys}::integer[]) then true end`
    : sql`(${key} in (${keys})) is true`;
}
