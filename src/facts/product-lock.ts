// Whoever derives facts reads how products are configured, and locks that configuration until the facts are committed.
// A change made in between would not see these facts, so they would never be derived again.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { PRODUCTS_LOCK } from '../db/advisory-locks.ts';
import type { DB } from '../db/types.ts';

/**
 * Returns an expression that takes the shared lock, which any number of transactions may hold. Take it before any other
 * lock that others may wait for, because waiting for this one can mean waiting for all its holders.
 */
export function holdingProducts(appKey: number): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock_shared(${PRODUCTS_LOCK}, ${appKey})`;
}

/** Takes the shared lock until the transaction ends. */
export async function holdProducts(trx: Kysely<DB>, appKey: number): Promise<void> {
  await sql`select ${holdingProducts(appKey)}`.execute(trx);
}

/** Waits until nobody holds the products of the app, and keeps others from holding them until the transaction ends. */
export async function lockProducts(trx: Kysely<DB>, appKey: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${PRODUCTS_LOCK}, ${appKey})`.execute(trx);
}
