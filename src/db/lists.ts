// Long lists of numbers or texts, as a parameter and as a column of a result: the driver takes each member by itself, which costs more than
// the statement.
import { type RawBuilder, sql } from 'kysely';

/** As PostgreSQL reads an array of numbers; the driver quotes and escapes each. */
export function listText(numbers: Iterable<number | bigint>): string {
  return `{${[...numbers].join(',')}}`;
}

/** A column of all rows as one list of JSON, parsed at once. For numbers that JavaScript has. */
export function jsonList(name: string, as = name): RawBuilder<unknown> {
  return sql`coalesce(array_to_json(array_agg(${sql.ref(name)})), '[]') as ${sql.ref(as)}`;
}
