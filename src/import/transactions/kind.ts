// Transactions as a kind of record to import. They are staged by COPY and written by the statements that write single ones.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../../db/client.ts';
import { copyRows } from '../../db/copy.ts';
import type { Session } from '../../db/session.ts';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import type { FieldError } from '../../errors.ts';
import { STAGED_COLUMNS, type StagedTransaction } from '../../purchases/columns.ts';
import { loadPriceBook } from '../../purchases/price-book.ts';
import { priceRecord } from '../../purchases/pricing.ts';
import { writeTransactions } from '../../purchases/write.ts';
import type { Kind, Written } from '../import-file.ts';
import { lockOwners } from './profiles.ts';
import { type NamedTransaction, NamedTransactionBody, parseNamedTransaction } from './record.ts';

const TABLE = 'transaction_staging';
const COLUMNS = STAGED_COLUMNS.map(([name]) => name);

const CHAIN_REFUSED: FieldError = {
  source: 'store_original_transaction_id',
  code: 'value_error',
  message: 'The chain belongs to another profile.',
};

/** Gives every record its profile and its amounts; `refused` hears of those that have none. */
async function prepare(
  trx: Kysely<DB>,
  app: App,
  records: readonly NamedTransaction[],
  refused: Map<number, FieldError>,
): Promise<StagedTransaction[]> {
  const owners = await lockOwners(trx, app, records);
  const book = await loadPriceBook(
    trx,
    app,
    records.map(({ transaction }) => transaction),
  );
  return records.flatMap(({ transaction }, position) => {
    const owner = owners[position] as (typeof owners)[number];
    const amounts = 'fault' in owner ? owner.fault : priceRecord(transaction, book);
    if ('profile_id' in owner && !('code' in amounts)) {
      return [{ ...transaction, ...amounts, position, profile_id: owner.profile_id }];
    }
    refused.set(position, amounts as FieldError);
    return [];
  });
}

async function stage(trx: Kysely<DB>, session: Session, transactions: readonly StagedTransaction[]): Promise<void> {
  const definition = STAGED_COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ');
  await sql.raw(`create temp table ${TABLE} (${definition}) on commit drop`).execute(trx);
  const rows = transactions.map((one) => COLUMNS.map((name) => one[name]));
  await copyRows(session.client, { table: TABLE, columns: COLUMNS }, rows);
  await sql.raw(`analyze ${TABLE}`).execute(trx);
}

async function write(session: Session, { app }: { app: App }, records: readonly NamedTransaction[]): Promise<Written> {
  return inTransaction(session.db, async (trx) => {
    const refused = new Map<number, FieldError>();
    const transactions = await prepare(trx, app, records, refused);
    if (transactions.length === 0) return { written: 0, refused };
    await stage(trx, session, transactions);
    // A file that moved chains to and fro would end differently each time it is imported.
    const outcome = await writeTransactions(trx, { ...app, sharing: 'refuse' }, sql.table(TABLE));
    for (const position of outcome.refused) refused.set(position, CHAIN_REFUSED);
    return { written: outcome.written, refused };
  });
}

export const TRANSACTIONS: Kind<NamedTransaction> = {
  schema: NamedTransactionBody,
  parse: parseNamedTransaction,
  tables: ['purchase', 'purchase_chain', 'fact_transaction'],
  write,
};
