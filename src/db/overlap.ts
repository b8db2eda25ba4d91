// Overlapping statements of one transaction: one round trip for all of them instead of one each. Kysely sends a
// statement when the one before it has been answered; PostgreSQL itself accepts statements as they come and runs them
// in that order, and each sees what those before it did.
import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { DB } from './types.ts';

/** Creates a Kysely on a connection that the caller has acquired, and on which the caller begins and commits. */
function onConnection(connection: DatabaseConnection): Kysely<DB> {
  const driver = new DummyDriver();
  driver.acquireConnection = async () => connection;
  return new Kysely<DB>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

interface Pipeline {
  /** Sends statements immediately, until one has failed. */
  each: Kysely<DB>;
  /**
   * Errors since the connection was lent, in the order of the statements. Each borrower gets a new list, since
   * statements that an earlier borrower did not wait for may still fail.
   */
  errors: unknown[];
}

function createPipeline(connection: DatabaseConnection): Pipeline {
  const each = onConnection({
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const { errors } = pipeline;
      // The transaction is as good as rolled back.
      if (errors.length > 0) throw errors[0];
      try {
        return await connection.executeQuery<R>(query);
      } catch (error) {
        errors.push(error);
        throw error;
      }
    },
    streamQuery: () => {
      throw new Error('rows cannot be streamed while other statements are under way');
    },
  });
  const pipeline: Pipeline = { each, errors: [] };
  return pipeline;
}

const pipelines = new WeakMap<DatabaseConnection, Pipeline>();

/**
 * Executes statements that do not need each other's rows. Whatever `send` executes on `each` goes to the database in
 * the order of the calls, without waiting for earlier answers. If one fails, so does the transaction, and the error of
 * the statement that failed first is thrown.
 */
export function overlapping<T extends readonly unknown[] | []>(trx: Kysely<DB>, send: (each: Kysely<DB>) => T) {
  return trx.getExecutor().provideConnection(async (connection) => {
    const pipeline = pipelines.get(connection) ?? createPipeline(connection);
    pipelines.set(connection, pipeline);
    pipeline.errors = [];
    const { errors } = pipeline;
    try {
      return await Promise.all(send(pipeline.each));
    } catch (error) {
      // Every statement behind the failed one fails, too, and one of those may have been reported before it.
      throw errors.length > 0 ? errors[0] : error;
    }
  });
}
