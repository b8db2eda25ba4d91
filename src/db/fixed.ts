// Parts of statements that have no values, as the text that they are: made and compiled once instead of with every statement.
import { createQueryId, PostgresQueryCompiler, type RawBuilder, type RootOperationNode, sql } from 'kysely';

const compiler = new PostgresQueryCompiler();

/** Throws if the part has values, which would be those of its first use for ever. */
export function fixed(part: RawBuilder<unknown>): RawBuilder<unknown> {
  const { sql: text, parameters } = compiler.compileQuery(part.toOperationNode() as RootOperationNode, createQueryId());
  if (parameters.length > 0) throw new Error(`values in ${text}`);
  return sql.raw(text);
}

/** A list of columns. */
export function fixedColumns(names: readonly string[], prefix = ''): RawBuilder<unknown> {
  return fixed(sql.join(names.map((name) => sql.ref(`${prefix}${name}`))));
}

/** What a row that is there takes over from the one that conflicts with it. */
export function fixedAssignments(names: readonly string[]): RawBuilder<unknown> {
  return fixed(sql.join(names.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`)));
}
