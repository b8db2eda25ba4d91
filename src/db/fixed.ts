// Parts of statements that contain no values, as plain text: built and compiled once instead of with every statement.
import { createQueryId, PostgresQueryCompiler, type RawBuilder, type RootOperationNode, sql } from 'kysely';

const compiler = new PostgresQueryCompiler();

/** Compiles a part to text. Throws if it has values: those of its first use would stay for ever. */
export function fixed(part: RawBuilder<unknown>): RawBuilder<unknown> {
  const { sql: text, parameters } = compiler.compileQuery(part.toOperationNode() as RootOperationNode, createQueryId());
  if (parameters.length > 0) throw new Error(`values in ${text}`);
  return sql.raw(text);
}

/** Returns a list of columns. */
export function fixedColumns(names: readonly string[], prefix = ''): RawBuilder<unknown> {
  return fixed(sql.join(names.map((name) => sql.ref(`${prefix}${name}`))));
}

/** Returns the assignments of an upsert: what an existing row takes over from the one that conflicts with it. */
export function fixedAssignments(names: readonly string[]): RawBuilder<unknown> {
  return fixed(sql.join(names.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`)));
}
