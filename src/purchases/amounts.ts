// Prices transactions. One priced like its stored version keeps its amounts, whatever rates and commissions say by now,
// even if its chain is about to leave the profile it is stored for. The write keeps them; pricing only has to accept
// such a transaction despite current rates and commissions.
import { type Kysely, sql } from 'kysely';
import { fixedColumns } from '../db/fixed.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import type { FieldError } from '../errors.ts';
import { AMOUNT_COLUMNS } from './columns.ts';
import { type Amounts, type PriceBook, priceRecord } from './pricing.ts';
import type { TransactionRecord } from './record.ts';
import { isPricedAlike, stageValues, withChains } from './write.ts';

/** Returns, by position, the stored amounts of transactions priced like what is stored. */
async function findStored(
  trx: Kysely<DB>,
  app: App,
  placed: readonly (TransactionRecord & { position: number })[],
): Promise<Map<number, Amounts>> {
  const { rows } = await sql<Amounts & { position: bigint }>`
    select s.position, ${fixedColumns(AMOUNT_COLUMNS, 'old.')}
    from ${withChains(app, stageValues(placed))}
    join purchase old on old.app_id = c.app_id and old.profile_id = c.profile_id and old.store = c.store
      and old.store_original_transaction_id = c.store_original_transaction_id
      and old.store_transaction_id = s.store_transaction_id
    where ${isPricedAlike('old.', 's.')}`.execute(trx);
  return new Map(rows.map(({ position, ...amounts }) => [Number(position), amounts]));
}

/**
 * Returns the amounts of each transaction, or the faulty field if it has none, neither by the price book nor stored.
 */
export async function priceTransactions(
  trx: Kysely<DB>,
  { app, book }: { app: App; book: PriceBook },
  transactions: readonly TransactionRecord[],
): Promise<(Amounts | FieldError)[]> {
  const priced = transactions.map((transaction) => priceRecord(transaction, book));
  const faulty = priced.flatMap((one, position) =>
    'source' in one ? [{ ...(transactions[position] as TransactionRecord), position }] : [],
  );
  if (faulty.length === 0) return priced;
  const stored = await findStored(trx, app, faulty);
  return priced.map((one, position) => stored.get(position) ?? one);
}
