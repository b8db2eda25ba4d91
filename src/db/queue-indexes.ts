// Rebuilds indexes of tables that fill and empty. Such a table gives its pages back, but its index does not: after an
// import of ten million transactions, the empty index of fact_pending was 584 MB, and vacuum read all of it once a
// minute.
import { type Kysely, sql } from 'kysely';
import { tryInTransaction } from './transactions.ts';
import type { DB } from './types.ts';

/** Tables of work for the background (migrations/0006_totals.sql and 0007_columns.sql). */
const QUEUES: readonly (keyof DB)[] = [
  'fact_pending',
  'fact_retired',
  'fact_moved',
  'fact_column_change',
  'install_column_change',
  'label_pending',
  'label_retotalled',
];

const LARGE_BYTES = 64 * 1024 * 1024;
/** The index of a table this small is rebuilt in some ten milliseconds, during which writers to the table wait. */
const SMALL_BYTES = 8 * 1024 * 1024;
const LOCK_MS = 250;

async function listEmptied(db: Kysely<DB>, largeBytes: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = any(${[...QUEUES]}::text[]::regclass[]) and pg_has_role(c.relowner, 'usage')
      and pg_relation_size(c.oid) > ${largeBytes} and pg_relation_size(i.indrelid) <= ${SMALL_BYTES}
    order by c.relname`.execute(db);
  return rows.map(({ name }) => name);
}

/** Rebuilds large indexes of queues that have become short. Leaves one that is being read for another time. */
export async function rebuildEmptied(db: Kysely<DB>, largeBytes = LARGE_BYTES): Promise<void> {
  for (const name of await listEmptied(db, largeBytes)) {
    await tryInTransaction(db, LOCK_MS, (trx) => sql`reindex index ${sql.table(name)}`.execute(trx));
  }
}
