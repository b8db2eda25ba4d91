// The values of filters as the keys that facts have of them.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { jsonList } from '../db/lists.ts';
import type { DB } from '../db/types.ts';
import type { Filter } from './filters.ts';

/** More are not listed in statements. */
const MOST_LISTED = 1000;

/** A filter with the keys that stand for its values; without them, where there are too many. */
export interface KeyedFilter extends Filter {
  keys?: number[];
}

/** The keys that stand for the values of a filter: a list, or what selects them. */
function matchingKeys({ dimension: { home }, values, keys }: KeyedFilter): number[] | RawBuilder<{ key: number }> {
  if ('codes' in home) return values.map((value) => home.codes.indexOf(value));
  const [key, value] = [sql.ref(home.column), sql.ref(home.value)];
  return (
    keys ??
    sql`select ${key} as key from ${sql.table(home.table)} where coalesce(${value}, '') = any(${[...values]}::text[])`
  );
}

/** The keys that stand for the values of a filter, at most so many; as a list, as a row for each label would hold other requests up where there are many. */
export async function listKeys(db: Kysely<DB>, filter: KeyedFilter, most: number): Promise<number[]> {
  const keys = matchingKeys(filter);
  if (Array.isArray(keys)) return keys;
  const { rows } = await sql<{ keys: number[] }>`
    select ${jsonList('key', 'keys')} from (${keys} limit ${most}) k`.execute(db);
  return rows[0]!.keys;
}

export async function withKeys(db: Kysely<DB>, filters: readonly Filter[]): Promise<KeyedFilter[]> {
  const keyed: KeyedFilter[] = [];
  for (const filter of filters) {
    const keys = await listKeys(db, filter, MOST_LISTED + 1);
    keyed.push(keys.length > MOST_LISTED ? filter : { ...filter, keys });
  }
  return keyed;
}

/**
 * Whether a key of the filter's dimension stands for one of its values. The `case` hides the comparison from the planner,
 * which else expected few rows, joined in nested loops and read a year of facts once per advertisement. `is true` keeps it from turning a
 * subquery (too many keys for a list) into a join.
 */
export function hasValue(key: RawBuilder<unknown>, filter: KeyedFilter): RawBuilder<unknown> {
  const keys = matchingKeys(filter);
  return Array.isArray(keys)
    ? sql`case when ${key} = any(${keys}::integer[]) then true end`
    : sql`(${key} in (${keys})) is true`;
}
