// How an import reads and writes transactions. Those of new chains are copied straight into place; the others are
// staged by COPY and written by the same statements as single ones.
import { type Kysely, sql } from 'kysely';
import type { CopyValue } from '../../db/copy-row.ts';
import { planningEachTime } from '../../db/prepared.ts';
import type { Session } from '../../db/session.ts';
import { inTransaction } from '../../db/transactions.ts';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import type { FieldError } from '../../errors.ts';
import { holdProducts } from '../../facts/product-lock.ts';
import { raiseVersion } from '../../facts/version.ts';
import { priceTransactions } from '../../purchases/amounts.ts';
import { AMOUNT_COLUMNS, RECORD_COLUMNS, STAGED_COLUMNS } from '../../purchases/columns.ts';
import { loadPriceBook } from '../../purchases/price-book.ts';
import type { TransactionRecord } from '../../purchases/record.ts';
import { writeTransactions } from '../../purchases/write.ts';
import type { Kind, WriteContext, Written } from '../kind.ts';
import { rescheduleLapsesAfter } from './lapses.ts';
import { type Priced, writeNewChains } from './new-chains.ts';
import { listForeignFaults, lockNamed } from './profiles.ts';
import { type NamedTransaction, NamedTransactionBody, parseNamedTransaction } from './record.ts';
import { listUnconfigured } from './unconfigured.ts';

const TABLE = 'transaction_staging';

const transactionsOf = (records: readonly { transaction: TransactionRecord }[]) =>
  records.map(({ transaction }) => transaction);

/** Gives records their profile and their amounts, and says why others have none. */
async function price(
  trx: Kysely<DB>,
  app: App,
  records: readonly NamedTransaction[],
): Promise<{ priced: Priced[]; refused: Map<number, FieldError> }> {
  const profiles = await lockNamed(trx, app, records);
  const refused = new Map<number, FieldError>();
  const owned = records.flatMap(({ chain, transaction }, position) => {
    const named = profiles[position]!;
    if ('profile_id' in named) return [{ position, profile_id: named.profile_id, chain, transaction }];
    refused.set(position, named.fault);
    return [];
  });
  const transactions = transactionsOf(owned);
  const book = await loadPriceBook(trx, app, transactions);
  const amounts = await priceTransactions(trx, { app, book }, transactions);
  const priced = owned.flatMap((one, index) => {
    const amount = amounts[index]!;
    if (!('source' in amount)) return [{ amounts: amount, ...one }];
    refused.set(one.position, amount);
    return [];
  });
  return { priced, refused };
}

/**
 * Yields rows in the order of STAGED_COLUMNS, each built only when it is copied. Merging them into objects of 35
 * members first would be slow.
 */
function* toRows(priced: readonly Priced[]): Generator<CopyValue[]> {
  for (const { position, profile_id, transaction, amounts } of priced) {
    const record = RECORD_COLUMNS.map((name) => transaction[name]);
    yield [position, profile_id, ...record, ...AMOUNT_COLUMNS.map((name) => amounts[name])];
  }
}

async function stage(trx: Kysely<DB>, session: Session, priced: readonly Priced[]): Promise<void> {
  const definition = STAGED_COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ');
  await sql.raw(`create temp table ${TABLE} (${definition}) on commit drop`).execute(trx);
  await session.copy({ table: TABLE, columns: STAGED_COLUMNS }, toRows(priced));
  await sql.raw(`analyze ${TABLE}`).execute(trx);
}

async function write(
  session: Session,
  { app, onHandedOver }: WriteContext,
  records: readonly NamedTransaction[],
): Promise<Written> {
  return inTransaction(session.db, async (trx) => {
    await holdProducts(trx, app.app_key);
    const { priced, refused } = await price(trx, app, records);
    const { copied, others } = await writeNewChains(trx, session, { app, priced, onCopied: onHandedOver });
    let written = copied;
    if (others.length > 0) {
      await stage(trx, session, others);
      onHandedOver();
      // A file that moved chains to and fro would end differently each time it is imported.
      const keeping: App = { ...app, sharing: 'refuse' };
      const profileIds = others.map(({ profile_id }) => profile_id);
      const outcome = await rescheduleLapsesAfter(trx, { app, profileIds }, () =>
        writeTransactions(planningEachTime(trx), keeping, sql.table(TABLE)),
      );
      const foreign = others.filter(({ position }) => outcome.refused.has(position));
      const faults = await listForeignFaults(trx, app, transactionsOf(foreign));
      for (const [index, { position }] of foreign.entries()) refused.set(position, faults[index] as FieldError);
      written += outcome.written;
    }
    const taken = priced.filter(({ position }) => !refused.has(position));
    const unconfigured = await listUnconfigured(trx, app, transactionsOf(taken));
    await raiseVersion(trx, app.app_key);
    return { written, refused, unconfigured };
  });
}

/** Transactions of different chains are independent of each other; those of one profile wait for its lock. */
function namesOf({ customer_user_id, profile_id, chain }: NamedTransaction): string[] {
  return [customer_user_id, profile_id, chain].filter((name) => name !== null);
}

export const TRANSACTIONS: Kind<NamedTransaction> = {
  schema: NamedTransactionBody,
  parse: parseNamedTransaction,
  namesOf,
  tables: ['purchase', 'purchase_chain', 'fact_transaction'],
  dimensions: ['dim_store', 'dim_product', 'dim_offer', 'dim_placement'],
  write,
};
