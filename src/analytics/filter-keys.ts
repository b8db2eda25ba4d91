// The values of filters as the keys that facts have of them.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { Filter } from './filters.ts';

/** More are not listed in statements. */
const MOST_LISTED = 1000;

/** A filter with the keys that stand for its values; without them, where there are too many. */
export interface KeyedFilter extends Filter {
  keys?: readonly number[];
}

/** Keys that stand for the values of a filter, at most so many. */
export async function findKeys(
  db: Kysely<DB>,
  { dimension: { home }, values }: Filter,
  most: number | null = null,
): Promise<number[]> {
  if ('codes' in home) return values.map((value) => home.codes.indexOf(value));
  const [key, value] = [sql.ref(home.column), sql.ref(home.value)];
  const { rows } = await sql<{ key: number }>`select ${key} as key from ${sql.table(home.table)}
    where coalesce(${value}, '') = any(${[...values]}::text[]) limit ${most}`.execute(db);
  return rows.map((row) => row.key);
}

export async function listKeys(db: Kysely<DB>, filters: readonly Filter[]): Promise<KeyedFilter[]> {
  const keyed: KeyedFilter[] = [];
  for (const filter of filters) {
    const keys = await findKeys(db, filter, MOST_LISTED + 1);
    keyed.push(keys.length > MOST_LISTED ? filter : { ...filter, keys });
  }
  return keyed;
}
