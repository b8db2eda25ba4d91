// Long lists of numbers or texts, as parameters and as result columns. The driver handles each member individually,
// which costs more than the statement itself.
import { type RawBuilder, sql } from 'kysely';

/** Returns the text of a PostgreSQL array; the driver would quote and escape each number. */
export function listText(numbers: Iterable<number | bigint>): string {
  return `{${[...numbers].join(',')}}`;
}

/** Aggregates a column into one JSON list, which is parsed in one go. For numbers that JavaScript can represent. */
export function jsonList(name: string, as = name): RawBuilder<unknown> {
  return sql`coalesce(array_to_json(array_agg(${sql.ref(name)})), '[]') as ${sql.ref(as)}`;
}
