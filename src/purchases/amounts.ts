// Pricing the transactions of profiles. One whose price is what is stored keeps its amounts, whatever rates and commissions say by now: writing
// sees to that, and here it is not refused for them.
import { type Kysely, sql } from 'kysely';
import { fixedColumns } from '../db/fixed.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import type { FieldError } from '../errors.ts';
import { AMOUNT_COLUMNS } from './columns.ts';
import { type Amounts, type PriceBook, priceRecord } from './pricing.ts';
import type { TransactionRecord } from './record.ts';
import { isPricedAlike, stageValues } from './write.ts';

interface Owned {
  profile_id: string;
  transaction: TransactionRecord;
}

const NO_AMOUNTS: Amounts = { revenue_nano: 0n, proceeds_nano: 0n, net_nano: 0n };

/** The stored amounts of those that are priced as what is stored, by their positions. */
async function findStored(
  trx: Kysely<DB>,
  app: App,
  placed: readonly (Owned & { position: number })[],
): Promise<Map<number, Amounts>> {
  const staged = stageValues(
    placed.map(({ profile_id, transaction, position }) => ({ ...NO_AMOUNTS, ...transaction, profile_id, position })),
  );
  const { rows } = await sql<Amounts & { position: bigint }>`
    select s.position, ${fixedColumns(AMOUNT_COLUMNS, 'old.')}
    from ${staged} s join purchase old using (profile_id, store, store_original_transaction_id, store_transaction_id)
    where old.app_id = ${app.app_id}
      and ${isPricedAlike('old.', 's.')}`.execute(trx);
  return new Map(rows.map(({ position, ...amounts }) => [Number(position), amounts]));
}

/** The amounts of each transaction, or the field because of which it has none: neither by the book nor stored. */
export async function priceTransactions(
  trx: Kysely<DB>,
  { app, book }: { app: App; book: PriceBook },
  owned: readonly Owned[],
): Promise<(Amounts | FieldError)[]> {
  const priced = owned.map(({ transaction }) => priceRecord(transaction, book));
  const faulty = priced.flatMap((one, position) =>
    'source' in one ? [{ ...(owned[position] as Owned), position }] : [],
  );
  if (faulty.length === 0) return priced;
  const stored = await findStored(trx, app, faulty);
  return priced.map((one, position) => stored.get(position) ?? one);
}
