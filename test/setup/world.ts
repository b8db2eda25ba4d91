// Writes rows to test with straight into the tables: profiles, access levels, products and purchases.
import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Product, Purchase } from '../../src/db/types.ts';
import type { TestService } from './service.ts';

type Home = Pick<TestService, 'database' | 'appId'>;

/** Adds a profile and returns its id. If `customerUserId` is null, the app has not identified the profile. */
export async function addProfile({ database: { db }, appId }: Home, customerUserId: string | null): Promise<string> {
  const profile_id = randomUUID();
  await db
    .insertInto('profile')
    .values({ app_id: appId, profile_id, customer_user_id: customerUserId, installed_at: '2025-01-01T00:00:00Z' })
    .execute();
  if (customerUserId !== null) {
    await db
      .insertInto('profile_identity')
      .values({ app_id: appId, customer_user_id: customerUserId, profile_id })
      .execute();
  }
  return profile_id;
}

export async function addAccessLevel({ database: { db }, appId }: Home, access_level_id: string): Promise<void> {
  await db.insertInto('access_level').values({ app_id: appId, access_level_id }).execute();
}

export async function addProduct(
  { database: { db }, appId }: Home,
  store_product_id: string,
  values: Partial<Insertable<Product>> = {},
): Promise<void> {
  await db
    .insertInto('product')
    .values({ app_id: appId, store: 'app_store', store_product_id, duration: 'Monthly', ...values })
    .execute();
}

let purchases = 0;

/**
 * Adds a production subscription period of January 2025 for 10 USD, or what `values` say. Returns its transaction id.
 */
export async function addPurchase(
  { database: { db }, appId }: Home,
  profileId: string,
  values: Partial<Insertable<Purchase>> = {},
): Promise<string> {
  const store_transaction_id = `t${++purchases}`;
  const isOneTime = values.purchase_type === 'one_time_purchase';
  const period = {
    originally_purchased_at: '2025-01-01T00:00:00Z',
    expires_at: '2025-02-01T00:00:00Z',
    renew_status: true,
  };
  await db
    .insertInto('purchase')
    .values({
      app_id: appId,
      profile_id: profileId,
      store: 'app_store',
      store_transaction_id,
      store_original_transaction_id: store_transaction_id,
      purchase_type: 'subscription',
      environment: 'Production',
      is_family_shared: false,
      store_product_id: 'monthly',
      price_country: 'US',
      price_currency: 'USD',
      price_value: '10',
      purchased_at: '2025-01-01T00:00:00Z',
      revenue_nano: 10_000_000_000n,
      proceeds_nano: 7_000_000_000n,
      net_nano: 7_000_000_000n,
      ...(!isOneTime && period),
      ...values,
    })
    .execute();
  return values.store_transaction_id ?? store_transaction_id;
}
