// Who derives facts reads how products are configured. Each holds the configuration still until the facts are committed: one that
// changed meanwhile would find them neither in time nor later.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/types.ts';

const LOCK_CLASS = 0x5b5f_0003;

/** An expression to be had before any other lock, as whoever waits for it may wait for all who hold it. Any number may. */
export function holdingProducts(appKey: number): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock_shared(${LOCK_CLASS}, ${appKey})`;
}

export async function holdProducts(trx: Kysely<DB>, appKey: number): Promise<void> {
  await sql`select ${holdingProducts(appKey)}`.execute(trx);
}

/** Waits until nobody holds the products of the app; until the transaction ends nobody does. */
export async function lockProducts(trx: Kysely<DB>, appKey: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, ${appKey})`.execute(trx);
}
