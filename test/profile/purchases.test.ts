// The profile object with what purchases give (interface 2.2 to 2.5, decisions.md 6), as a dictionary and as arrays.
// Each test grants some level, because a grant's answer is the profile object.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grant } from '../grants/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct, addProfile, addPurchase } from '../setup/world.ts';

let service: TestService;
let arrays: TestService;
beforeAll(async () => {
  service = await startService();
  arrays = await startService({ app: { name: 'Arrays', profile_shape: 'array' } });
  for (const one of [service, arrays]) {
    for (const level of ['premium', 'coins', 'gift']) await addAccessLevel(one, level);
    await addProduct(one, 'monthly', { access_level_id: 'premium' });
    await addProduct(one, 'forever', { access_level_id: 'premium', duration: 'Lifetime' });
    await addProduct(one, 'pack', { access_level_id: 'coins', duration: 'Lifetime', is_consumable: true });
    await addProduct(one, 'plain', { duration: 'Annual' });
  }
});
afterAll(async () => {
  await service.close();
  await arrays.close();
});

/** Grants `gift` and returns the profile from the answer. */
async function grantGift(home: TestService, customerUserId: string) {
  const response = await grant(home, { access_level_id: 'gift' }, { 'service-customer-user-id': customerUserId });
  expect(response.status).toBe(200);
  return response.json.data;
}

const ONE_TIME = { purchase_type: 'one_time_purchase', store_product_id: 'forever' } as const;
const FUTURE = '2090-02-01T00:00:00.000000+0000';

test('an expired level ended with the purchase that ended last, even if another one was bought later', async () => {
  const profileId = await addProfile(service, 'overlapping');
  await addPurchase(service, profileId, { purchased_at: '2025-01-01T00:00:00Z', expires_at: '2025-06-01T00:00:00Z' });
  await addPurchase(service, profileId, { purchased_at: '2025-02-01T00:00:00Z', expires_at: '2025-03-01T00:00:00Z' });
  const { access_levels, subscriptions } = await grantGift(service, 'overlapping');
  expect(access_levels.premium.expires_at).toBe('2025-06-01T00:00:00.000000+0000');
  expect(subscriptions.monthly.expires_at).toBe('2025-03-01T00:00:00.000000+0000');
});

test('a subscription has the fields of interface 2.4, and opens the level of its product', async () => {
  const profileId = await addProfile(service, 'subscriber');
  await addPurchase(service, profileId, {
    store_transaction_id: 'renewal-2',
    store_original_transaction_id: 'chain-1',
    store_base_plan_id: 'base',
    offer_category: 'introductory',
    offer_type: 'pay_up_front',
    purchased_at: '2025-03-01T10:00:00.123456Z',
    originally_purchased_at: '2025-01-01T10:00:00Z',
    expires_at: '2090-02-01T00:00:00Z',
    cancellation_reason: 'voluntarily_cancelled',
    renew_status: false,
    renew_status_changed_at: '2025-03-02T00:00:00Z',
    billing_issue_detected_at: '2025-03-03T00:00:00Z',
  });
  const shared = {
    store: 'app_store',
    store_product_id: 'monthly',
    store_base_plan_id: 'base',
    store_transaction_id: 'renewal-2',
    store_original_transaction_id: 'chain-1',
    environment: 'Production',
    purchased_at: '2025-03-01T10:00:00.123456+0000',
    originally_purchased_at: '2025-01-01T10:00:00.000000+0000',
    expires_at: FUTURE,
    renewal_cancelled_at: '2025-03-02T00:00:00.000000+0000',
    billing_issue_detected_at: '2025-03-03T00:00:00.000000+0000',
    is_in_grace_period: false,
    cancellation_reason: 'voluntarily_cancelled',
  };
  const data = await grantGift(service, 'subscriber');
  expect(data.subscriptions).toEqual({
    monthly: { ...shared, offer: { offer_category: 'introductory', offer_type: 'pay_up_front', offer_id: null } },
  });
  expect(data.access_levels.premium).toEqual({
    ...shared,
    access_level_id: 'premium',
    starts_at: null,
    offer: { category: 'introductory', type: 'pay_up_front', id: null },
  });
  expect(data).toMatchObject({ total_revenue_usd: 10, non_subscriptions: null });
});

test('of each product the transaction purchased last is shown, or the one whose id is greater by code point', async () => {
  const profileId = await addProfile(service, 'renewed');
  const at = '2025-03-01T00:00:00.000001Z';
  await addPurchase(service, profileId, { purchased_at: '2025-03-01T00:00:00Z', store_transaction_id: 'z-early' });
  const late = (store_transaction_id: string, store_original_transaction_id: string) =>
    addPurchase(service, profileId, { purchased_at: at, store_transaction_id, store_original_transaction_id });
  await late('a-late', 'chain 1');
  await late('B-late', 'chain 2');
  await addPurchase(service, profileId, { store_product_id: 'plain', store: 'stripe' });
  const { subscriptions } = await grantGift(service, 'renewed');
  expect(Object.keys(subscriptions).sort()).toEqual(['monthly', 'plain']);
  expect(subscriptions.monthly.store_transaction_id).toBe('a-late');
});

test.each([
  [true, 'resumed'],
  [null, 'of unknown renewal'],
])(
  'renewal_cancelled_at is shown only while the subscription will not renew: null if renew_status is %s',
  async (renew_status, name) => {
    const profileId = await addProfile(service, name);
    await addPurchase(service, profileId, { renew_status, renew_status_changed_at: '2025-01-05T00:00:00Z' });
    const { subscriptions, access_levels } = await grantGift(service, name);
    expect(subscriptions.monthly.renewal_cancelled_at).toBeNull();
    expect(access_levels.premium.renewal_cancelled_at).toBeNull();
  },
);

test('a subscription is in grace from the end of its period to the end of the grace, and its level lasts as long', async () => {
  const profileId = await addProfile(service, 'in grace');
  const grace = { billing_issue_detected_at: '2025-02-01T00:00:00Z', grace_period_expires_at: '2090-02-01T00:00:00Z' };
  await addPurchase(service, profileId, grace);
  const data = await grantGift(service, 'in grace');
  expect(data.subscriptions.monthly).toMatchObject({
    is_in_grace_period: true,
    expires_at: '2025-02-01T00:00:00.000000+0000',
  });
  expect(data.access_levels.premium).toMatchObject({ is_in_grace_period: true, expires_at: FUTURE });
});

test('a refund during a grace period ends it, and the access, at that moment', async () => {
  const profileId = await addProfile(service, 'refunded in grace');
  await addPurchase(service, profileId, {
    billing_issue_detected_at: '2025-02-01T00:00:00Z',
    grace_period_expires_at: '2090-02-01T00:00:00Z',
    refunded_at: '2025-02-05T00:00:00Z',
    cancellation_reason: 'refund',
  });
  expect((await grantGift(service, 'refunded in grace')).access_levels.premium).toMatchObject({
    is_in_grace_period: false,
    expires_at: '2025-02-05T00:00:00.000000+0000',
  });
});

test('a subscription is not in grace before or after its grace period', async () => {
  const profileId = await addProfile(service, 'grace over');
  await addPurchase(service, profileId, { grace_period_expires_at: '2025-02-10T00:00:00Z' });
  const data = await grantGift(service, 'grace over');
  expect(data.access_levels.premium).toMatchObject({
    is_in_grace_period: false,
    expires_at: '2025-02-01T00:00:00.000000+0000',
  });
  const beforeId = await addProfile(service, 'grace to come');
  const dates = { expires_at: '2090-01-01T00:00:00Z', grace_period_expires_at: '2090-02-01T00:00:00Z' };
  await addPurchase(service, beforeId, dates);
  expect((await grantGift(service, 'grace to come')).subscriptions.monthly.is_in_grace_period).toBe(false);
});

test('one-time purchases are arrays per product, oldest first, with the fields of interface 2.5', async () => {
  const profileId = await addProfile(service, 'buyer');
  await addPurchase(service, profileId, {
    ...ONE_TIME,
    store_product_id: 'pack',
    purchased_at: '2025-02-01T00:00:00Z',
  });
  await addPurchase(service, profileId, {
    ...ONE_TIME,
    store_product_id: 'pack',
    store_base_plan_id: 'base',
    store_transaction_id: 'oldest',
    store_original_transaction_id: 'oldest',
    environment: 'Sandbox',
    refunded_at: '2025-01-03T00:00:00Z',
    cancellation_reason: 'refund',
  });
  await addPurchase(service, profileId, ONE_TIME);
  const data = await grantGift(service, 'buyer');
  expect(data.subscriptions).toBeNull();
  expect(Object.keys(data.non_subscriptions).sort()).toEqual(['forever', 'pack']);
  expect(data.non_subscriptions.pack).toHaveLength(2);
  expect(data.non_subscriptions.pack[0]).toEqual({
    purchase_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    store: 'app_store',
    store_product_id: 'pack',
    store_base_plan_id: 'base',
    store_transaction_id: 'oldest',
    store_original_transaction_id: 'oldest',
    purchased_at: '2025-01-01T00:00:00.000000+0000',
    environment: 'Sandbox',
    is_refund: true,
    is_consumable: true,
  });
  expect(data.non_subscriptions.forever[0]).toMatchObject({ is_refund: false, is_consumable: false });
  const again = await grantGift(service, 'buyer');
  expect(again.non_subscriptions).toEqual(data.non_subscriptions);
});

test('a non-consumable opens its level for life; a consumable or a product without a level opens nothing', async () => {
  const profileId = await addProfile(service, 'opener');
  await addPurchase(service, profileId, ONE_TIME);
  await addPurchase(service, profileId, { ...ONE_TIME, store_product_id: 'pack' });
  await addPurchase(service, profileId, { store_product_id: 'plain' });
  await addPurchase(service, profileId, { store_product_id: 'not configured' });
  await addPurchase(service, profileId, { store: 'play_store', expires_at: '2090-01-01T00:00:00Z' });
  const { access_levels } = await grantGift(service, 'opener');
  expect(Object.keys(access_levels)).toEqual(['gift', 'premium']);
  expect(access_levels.premium).toMatchObject({
    store_product_id: 'forever',
    expires_at: null,
    originally_purchased_at: '2025-01-01T00:00:00.000000+0000',
  });
});

test('a one-time purchase is not refunded before its refund happens', async () => {
  const profileId = await addProfile(service, 'refund to come');
  const refund = { refunded_at: '2090-01-10T00:00:00Z', cancellation_reason: 'refund' };
  await addPurchase(service, profileId, { ...ONE_TIME, ...refund });
  const { non_subscriptions } = await grantGift(service, 'refund to come');
  expect(non_subscriptions.forever).toMatchObject([{ is_refund: false }]);
});

test('a refund ends the level when it happens', async () => {
  const profileId = await addProfile(service, 'refunded');
  const refund = { refunded_at: '2025-01-10T00:00:00Z', cancellation_reason: 'refund' };
  await addPurchase(service, profileId, { ...refund, expires_at: '2090-02-01T00:00:00Z' });
  const data = await grantGift(service, 'refunded');
  expect(data.access_levels.premium.expires_at).toBe('2025-01-10T00:00:00.000000+0000');
  expect(data.subscriptions.monthly).toMatchObject({ expires_at: FUTURE, cancellation_reason: 'refund' });
});

test('total_revenue_usd is production purchases minus refunds once they have happened, with at most 6 decimals', async () => {
  const profileId = await addProfile(service, 'payer');
  await addPurchase(service, profileId, { revenue_nano: 9_990_000_000n });
  await addPurchase(service, profileId, { revenue_nano: 123_456n });
  await addPurchase(service, profileId, { ...ONE_TIME, revenue_nano: 3_490_000_000n });
  await addPurchase(service, profileId, { revenue_nano: 5_000_000_000n, environment: 'Sandbox' });
  await addPurchase(service, profileId, { revenue_nano: 5_000_000_000n, is_family_shared: true });
  const refund = { refunded_at: '2025-01-10T00:00:00Z', cancellation_reason: 'refund' };
  await addPurchase(service, profileId, { revenue_nano: 5_000_000_000n, ...refund });
  await addPurchase(service, profileId, {
    revenue_nano: 1_000_000_000n,
    ...refund,
    refunded_at: '2090-01-10T00:00:00Z',
  });
  await addPurchase(service, profileId, { purchased_at: '2090-01-10T00:00:00Z', expires_at: '2090-02-10T00:00:00Z' });
  await addPurchase(service, profileId, { ...ONE_TIME, purchased_at: '2090-01-10T00:00:00Z' });
  expect((await grantGift(service, 'payer')).total_revenue_usd).toBe(14.480123);
});

test('sandbox and family-shared purchases are shown and open access', async () => {
  const sandboxId = await addProfile(service, 'sandbox');
  await addPurchase(service, sandboxId, { environment: 'Sandbox' });
  const sandbox = await grantGift(service, 'sandbox');
  expect(sandbox.subscriptions.monthly.environment).toBe('Sandbox');
  expect(sandbox.access_levels.premium.environment).toBe('Sandbox');
  const sharedId = await addProfile(service, 'family');
  await addPurchase(service, sharedId, { is_family_shared: true });
  expect(Object.keys((await grantGift(service, 'family')).access_levels)).toEqual(['gift', 'premium']);
});

test('an app may choose the arrays of the sample response: empty if there is nothing, attributes as key and value', async () => {
  const profileId = await addProfile(arrays, 'sample');
  const empty = await grantGift(arrays, 'sample');
  expect(empty).toMatchObject({ custom_attributes: [], subscriptions: [], non_subscriptions: [] });
  expect(empty.access_levels).toMatchObject([{ access_level_id: 'gift' }]);
  await addPurchase(arrays, profileId);
  await addPurchase(arrays, profileId, ONE_TIME);
  await addPurchase(arrays, profileId, { ...ONE_TIME, purchased_at: '2025-01-02T00:00:00Z' });
  const { db } = arrays.database;
  const custom_attributes = JSON.stringify({ level: 7, 'a.b-c_d': 'text' });
  await db.updateTable('profile').set({ custom_attributes }).where('profile_id', '=', profileId).execute();
  const data = await grantGift(arrays, 'sample');
  expect(data.custom_attributes).toEqual([
    { key: 'level', value: 7 },
    { key: 'a.b-c_d', value: 'text' },
  ]);
  expect(data.access_levels.map((one: { access_level_id: string }) => one.access_level_id)).toEqual([
    'gift',
    'premium',
  ]);
  expect(data.subscriptions).toMatchObject([{ store_product_id: 'monthly' }]);
  expect(data.non_subscriptions).toMatchObject([{ store_product_id: 'forever' }, { store_product_id: 'forever' }]);
});

test('in the dictionary shape custom attributes are a dictionary; a profile that was never identified has a null id', async () => {
  const profileId = await addProfile(service, null);
  const { db } = service.database;
  const custom_attributes = JSON.stringify({ level: 7.5, name: 'x' });
  await db.updateTable('profile').set({ custom_attributes }).where('profile_id', '=', profileId).execute();
  const response = await grant(service, { access_level_id: 'gift' }, { 'service-profile-id': profileId });
  expect(response.json.data).toMatchObject({ customer_user_id: null, custom_attributes: { level: 7.5, name: 'x' } });
});
