// Statements of one transaction that are under way at once: one round trip for all of them instead of one for each. Kysely sends a statement when
// the one before it is answered; PostgreSQL itself takes them as they come and runs them in that order, and each sees what those before it did.
import {
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { DB } from './types.ts';

/** Kysely on one connection that somebody else has acquired, begins and commits on. */
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

const faces = new WeakMap<DatabaseConnection, Kysely<DB>>();

/**
 * Runs `work`, in which statements on `each` go to the database in the order in which they are executed, without waiting for the answer to the
 * one before. They must not need each other's rows. If one fails, so does every later one, and the transaction.
 */
export function overlapping<T>(trx: Kysely<DB>, work: (each: Kysely<DB>) => Promise<T>): Promise<T> {
  return trx.getExecutor().provideConnection((connection) => {
    let each = faces.get(connection);
    if (!each) {
      each = onConnection(connection);
      faces.set(connection, each);
    }
    return work(each);
  });
}
