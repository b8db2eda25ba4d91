// Who derives facts reads how products are configured, and locks that until the facts are committed. A change in between would not see these
// facts, and so would never have them derived again.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { PRODUCTS_LOCK } from '../db/advisory-locks.ts';
import type { DB } from '../db/types.ts';

/** An expression that takes the shared lock; any number may hold it. To be taken before any other that is waited for: who waits for it may wait for all its holders. */
export function holdingProducts(appKey: number): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock_shared(${PRODUCTS_LOCK}, ${appKey})`;
}

/** Takes the shared lock until the transaction ends. */
export async function holdProducts(trx: Kysely<DB>, appKey: number): Promise<void> {
  await sql`select ${holdingProducts(appKey)}`.execute(trx);
}

/** Waits until nobody holds the products of the app; until the transaction ends nobody does. */
export async function lockProducts(trx: Kysely<DB>, appKey: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${PRODUCTS_LOCK}, ${appKey})`.execute(trx);
}
