// Derives facts again after the configuration they were derived with has changed.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { planningEachTime } from '../db/prepared.ts';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { codeOf } from './chains.ts';
import { DURATIONS } from './codes.ts';
import { deriveFacts } from './derive.ts';
import { holdProducts } from './product-lock.ts';
import { lockInOrder } from './profile-lock.ts';
import { raiseVersion } from './version.ts';

/** Purchases of these profiles wait until the batch is done: a fraction of a second. */
const PROFILES_AT_ONCE = 500;

/** Derives the chains of some profiles again, in a transaction of its own. */
async function rederiveProfiles(db: Kysely<DB>, app: App, profileIds: readonly string[]): Promise<void> {
  await inTransaction(db, async (trx) => {
    await holdProducts(trx, app.app_key);
    await lockInOrder(trx, app.app_id, profileIds);
    const chains = sql`(
      select distinct profile_id, store, store_original_transaction_id from purchase
      where app_id = ${app.app_id} and profile_id = any(${profileIds}::uuid[]))`;
    await deriveFacts(planningEachTime(trx), app, chains);
    await raiseVersion(trx, app.app_key);
  });
}

/**
 * Derives again, in batches, the chains of all profiles that have facts matching `narrowed` (joins and conditions).
 * Returns how many profiles there were.
 */
async function rederiveEach(db: Kysely<DB>, app: App, narrowed: RawBuilder<unknown>): Promise<number> {
  return db.connection().execute(async (connection) => {
    // One pass over the facts finds all profiles, and the database keeps them from commit to commit.
    await sql`
      declare outdated cursor with hold for
      select distinct f.profile_id
      from fact_transaction f join dim_store using (store_key) join dim_product using (product_key) ${narrowed}
        and f.app_key = ${app.app_key}`.execute(connection);
    try {
      for (let derived = 0; ; ) {
        const { rows } = await sql<{ profile_id: string }>`
          fetch ${sql.lit(PROFILES_AT_ONCE)} from outdated`.execute(connection);
        if (rows.length === 0) return derived;
        const profileIds = rows.map(({ profile_id }) => profile_id);
        await rederiveProfiles(connection, app, profileIds);
        derived += rows.length;
      }
    } finally {
      await sql`close outdated`.execute(connection);
    }
  });
}

/**
 * Derives again the chains of profiles that have facts with a duration other than the one configured for their product.
 * If it is interrupted, the next call does the rest.
 */
export async function rederiveProducts(db: Kysely<DB>, app: App): Promise<void> {
  const isOutdated = sql`
    join product using (store, store_product_id)
    where product.app_id = ${app.app_id} and f.duration <> ${codeOf('product.duration', DURATIONS)}`;
  await rederiveEach(db, app, isOutdated);
}

/** Derives again the chains of all profiles that have facts of a product. Returns how many profiles there were. */
export function rederiveProduct(
  db: Kysely<DB>,
  app: App,
  { store, store_product_id }: { store: string; store_product_id: string },
): Promise<number> {
  const isOfProduct = sql`where store = ${store} and store_product_id = ${store_product_id}`;
  return rederiveEach(db, app, isOfProduct);
}
