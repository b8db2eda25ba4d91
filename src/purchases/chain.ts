// A chain as events see it: its transactions with what is derived from them, including sandbox and family-shared ones.
// The derivation is the one that charts use (facts/chains.ts), without writing facts.
import { type Kysely, sql } from 'kysely';
import { CHAIN_SEED } from '../db/advisory-locks.ts';
import { fixed, fixedColumns } from '../db/fixed.ts';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { datedFacts } from '../facts/chains.ts';
import { PERIODS } from '../facts/codes.ts';
import { holdingProducts } from '../facts/product-lock.ts';
import { AMOUNT_COLUMNS, RECORD_COLUMNS } from './columns.ts';
import type { Amounts } from './pricing.ts';
import type { TransactionRecord } from './record.ts';
import type { Chain } from './write.ts';

/** Identifies a chain, and whose it is. */
export interface ChainKey extends Chain {
  app_id: string;
}

export interface ChainTransaction extends TransactionRecord, Amounts {
  purchase_no: bigint;
  period: (typeof PERIODS)[number];
  /** When the subscription lapses after this period, as far as known; null if the chain goes on. */
  lapse_at: string | null;
}

const COLUMNS = fixedColumns([...RECORD_COLUMNS, ...AMOUNT_COLUMNS], 'chain.');
const DATED_FACTS = fixed(datedFacts());

/** Returns the transactions of the chain, oldest first. */
export async function readChain(trx: Kysely<DB>, chain: ChainKey): Promise<ChainTransaction[]> {
  // As in charts, production, sandbox and shared copies are separated before anything is derived.
  const statement = sql<Omit<ChainTransaction, 'period'> & { period: bigint }>`
    with chain as (
      select p.*, product.duration as configured_duration
      from purchase p left join product using (app_id, store, store_product_id)
      where p.app_id = ${chain.app_id} and p.profile_id = ${chain.profile_id} and p.store = ${chain.store}
        and p.store_original_transaction_id = ${chain.store_original_transaction_id}
    ), derived as (
      select dated.* from (select distinct environment, is_family_shared from chain) kind
      cross join lateral (
        with counted as (
          select * from chain
          where chain.environment = kind.environment and chain.is_family_shared = kind.is_family_shared)
        select purchase_no, period, lapse_at from (${DATED_FACTS}) facts
      ) dated
    )
    select purchase_no, ${COLUMNS}, derived.period, derived.lapse_at
    from chain join derived using (purchase_no)
    order by chain.purchased_at, chain.store_transaction_id collate "C"`;
  const rows = await executePrepared(trx, 'read_chain', statement);
  return rows.map((row) => ({ ...row, period: PERIODS[Number(row.period)] as ChainTransaction['period'] }));
}

export interface Owner {
  profile_id: string;
  is_deleted: boolean;
}

/** Returns the profile that the chain belongs to. */
export async function findOwner(trx: Kysely<DB>, chain: Omit<ChainKey, 'profile_id'>): Promise<Owner | undefined> {
  const statement = sql<Owner>`
    select c.profile_id, p.deleted_at is not null as is_deleted
    from purchase_chain c join profile p using (app_id, profile_id)
    where c.app_id = ${chain.app_id} and c.store = ${chain.store}
      and c.store_original_transaction_id = ${chain.store_original_transaction_id}`;
  return (await executePrepared(trx, 'find_owner', statement))[0];
}

/**
 * Keeps other requests from moving the chain, and the app's products from changing, until the database transaction
 * ends. Must be called before profiles are locked, because it settles which of them have to be.
 */
export async function lockChain(
  trx: Kysely<DB>,
  { app_key }: Pick<App, 'app_key'>,
  chain: Omit<ChainKey, 'profile_id'>,
): Promise<void> {
  const name = JSON.stringify([chain.app_id, chain.store, chain.store_original_transaction_id]);
  const statement = sql`select ${holdingProducts(app_key)}, pg_advisory_xact_lock(hashtextextended(${name}, ${sql.lit(CHAIN_SEED)}))`;
  await executePrepared(trx, 'lock_chain', statement);
}
