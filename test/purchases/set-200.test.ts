// Setting transactions: what the profile then shows, and that charts count it immediately.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setStore } from '../../src/apps/catalogue.ts';
import { createProfile, readProfile } from '../profile/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { chartTotal, oneTime, period, SET, setTransaction, trial } from './world.ts';

let service: TestService;
let customer: string;
let count = 0;
beforeAll(async () => {
  service = await startService();
  for (const level of ['premium', 'forever']) await addAccessLevel(service, level);
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  await addProduct(service, 'lifetime', { access_level_id: 'forever', duration: 'Lifetime' });
  await addProduct(service, 'gems', { is_consumable: true, duration: 'Lifetime', access_level_id: 'forever' });
});
afterAll(() => service.close());
beforeEach(async () => {
  customer = `customer-${++count}`;
  await createProfile(service, { customer });
});

/** Ids of a chain that belongs to the test alone. */
const own = (members: Record<string, unknown> = {}) => ({
  store_original_transaction_id: `${customer}-c`,
  store_transaction_id: `${customer}-1`,
  ...members,
});
const ownOneTime = (members: Record<string, unknown> = {}) =>
  oneTime({ store_transaction_id: `${customer}-o`, store_original_transaction_id: `${customer}-o`, ...members });

async function set(body: unknown) {
  const response = await setTransaction(service, customer, body);
  expect(response).toMatchObject({ status: 200 });
  return response.json.data;
}

test('a subscription is shown as in sections 2.3 and 2.4, opens its level and counts its price', async () => {
  const data = await set(
    period(
      own({
        expires_at: '2099-03-01T00:00:00.123456+0100',
        store_base_plan_id: 'base',
        offer: { category: 'win_back', type: 'pay_as_you_go', id: 'back' },
        price: { country: 'de', currency: 'EUR', value: 9, value_usd: 9.99, tax_usd: 1 },
      }),
    ),
  );
  const bought = {
    store: 'app_store',
    store_product_id: 'monthly',
    store_base_plan_id: 'base',
    store_transaction_id: `${customer}-1`,
    store_original_transaction_id: `${customer}-c`,
    environment: 'Production',
    purchased_at: '2025-02-01T00:00:00.000000+0000',
    originally_purchased_at: '2025-02-01T00:00:00.000000+0000',
    expires_at: '2099-02-28T23:00:00.123456+0000',
    renewal_cancelled_at: null,
    billing_issue_detected_at: null,
    is_in_grace_period: false,
    cancellation_reason: null,
  };
  expect(data.subscriptions).toEqual({
    monthly: { ...bought, offer: { offer_category: 'win_back', offer_type: 'pay_as_you_go', offer_id: 'back' } },
  });
  expect(data.access_levels).toEqual({
    premium: {
      ...bought,
      access_level_id: 'premium',
      starts_at: null,
      offer: { category: 'win_back', type: 'pay_as_you_go', id: 'back' },
    },
  });
  expect(data.total_revenue_usd).toBe(9.99);
});

test('a one-time purchase with members of a subscription is not a subscription', async () => {
  const members = {
    originally_purchased_at: '2024-01-01T00:00:00Z',
    expires_at: '2025-03-01T00:00:00Z',
    renew_status: false,
    renew_status_changed_at: '2025-02-10T00:00:00Z',
    billing_issue_detected_at: '2025-02-20T00:00:00Z',
    grace_period_expires_at: '2099-01-01T00:00:00Z',
  };
  const { access_levels } = await set(ownOneTime({ store_product_id: 'monthly', ...members }));
  expect(access_levels.premium).toMatchObject({
    originally_purchased_at: access_levels.premium.purchased_at,
    expires_at: null,
    is_in_grace_period: false,
    renewal_cancelled_at: null,
    billing_issue_detected_at: null,
  });
});

test('the answer is the same as reading the profile', async () => {
  const set1 = await set(period(own()));
  const { json } = await readProfile(service, { customer });
  expect({ ...json.data, timestamp: 0 }).toEqual({ ...set1, timestamp: 0 });
  expect(json.data.timestamp).toBeGreaterThanOrEqual(set1.timestamp);
});

test('the same id replaces the transaction as a whole, another id continues the chain', async () => {
  await set(period(own({ paywall_id: 'pw', renew_status: false, renew_status_changed_at: '2025-02-03T00:00:00Z' })));
  const replaced = await set(period(own({ price: { country: 'US', currency: 'USD', value: 12 } })));
  expect(replaced.total_revenue_usd).toBe(12);
  expect(replaced.subscriptions.monthly.renewal_cancelled_at).toBeNull();
  const next = { purchased_at: '2025-03-01T00:00:00Z', expires_at: '2025-04-01T00:00:00Z' };
  const continued = await set(period(own({ ...next, store_transaction_id: `${customer}-2` })));
  expect(continued.total_revenue_usd).toBe(22);
  expect(continued.subscriptions.monthly).toMatchObject({
    store_transaction_id: `${customer}-2`,
    originally_purchased_at: '2025-02-01T00:00:00.000000+0000',
  });
});

test('a one-time purchase is shown with an id that never changes; a consumable opens nothing', async () => {
  const first = await set(ownOneTime());
  expect(first.non_subscriptions).toEqual({
    gems: [
      {
        purchase_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        store: 'app_store',
        store_product_id: 'gems',
        store_base_plan_id: null,
        store_transaction_id: `${customer}-o`,
        store_original_transaction_id: `${customer}-o`,
        purchased_at: '2025-02-10T00:00:00.000000+0000',
        environment: 'Production',
        is_refund: false,
        is_consumable: true,
      },
    ],
  });
  expect(first.access_levels).toBeNull();
  const refund = { refunded_at: '2025-02-11T00:00:00Z', cancellation_reason: 'refund' };
  const refunded = await set(ownOneTime(refund));
  expect(refunded.non_subscriptions.gems[0]).toEqual({ ...first.non_subscriptions.gems[0], is_refund: true });
  expect(refunded.total_revenue_usd).toBe(0);
});

test('a non-consumable one-time purchase opens its level for life, until it is refunded', async () => {
  const opened = await set(ownOneTime({ store_product_id: 'lifetime' }));
  expect(opened.access_levels.forever.expires_at).toBeNull();
  const refund = { refunded_at: '2025-02-11T00:00:00Z', cancellation_reason: 'refund' };
  const ended = await set(ownOneTime({ store_product_id: 'lifetime', ...refund }));
  expect(ended.access_levels.forever).toMatchObject({
    expires_at: '2025-02-11T00:00:00.000000+0000',
    cancellation_reason: 'refund',
  });
});

test('sandbox and family-shared transactions open access but count as no revenue', async () => {
  for (const members of [{ environment: 'Sandbox' }, { is_family_shared: true }]) {
    const data = await set(period(own({ ...members, expires_at: '2099-03-01T00:00:00Z' })));
    expect(data.total_revenue_usd).toBe(0);
    expect(data.access_levels.premium.environment).toBe(members.environment ?? 'Production');
  }
});

test('a product that is not configured is shown and opens nothing', async () => {
  const data = await set(period(own({ store_product_id: 'unknown' })));
  expect(data.access_levels).toBeNull();
  expect(data.subscriptions.unknown.store_product_id).toBe('unknown');
});

test('charts count a transaction immediately: added, replaced and turned into sandbox', async () => {
  const [revenue, started] = [await chartTotal(service, 'revenue'), await chartTotal(service, 'subscriptions_new')];
  const trials = await chartTotal(service, 'trials_new');
  await set(trial(own({ store_transaction_id: `${customer}-0` })));
  await set(period(own()));
  expect(await chartTotal(service, 'revenue')).toBeCloseTo(revenue + 10, 6);
  expect(await chartTotal(service, 'subscriptions_new')).toBe(started + 1);
  expect(await chartTotal(service, 'trials_new')).toBe(trials + 1);
  await set(period(own({ price: { country: 'US', currency: 'USD', value: 4.5 } })));
  expect(await chartTotal(service, 'revenue')).toBeCloseTo(revenue + 4.5, 6);
  await set(period(own({ environment: 'Sandbox' })));
  expect(await chartTotal(service, 'revenue')).toBeCloseTo(revenue, 6);
  expect(await chartTotal(service, 'subscriptions_new')).toBe(started);
});

test('a customer who renews after all has not cancelled', async () => {
  const countCancelled = () => chartTotal(service, 'subscriptions_renewal_cancelled');
  const before = await countCancelled();
  await set(period(own({ renew_status: false, renew_status_changed_at: '2025-02-10T00:00:00Z' })));
  expect(await countCancelled()).toBe(before + 1);
  await set(period(own({ renew_status: true, renew_status_changed_at: '2025-02-11T00:00:00Z' })));
  expect(await countCancelled()).toBe(before);
});

test('a period of a millisecond adds at most 1,000,000,000 USD to mrr', async () => {
  const around = { purchased_at: '2020-12-31T23:59:59.999500Z', expires_at: '2021-01-01T00:00:00.000500Z' };
  const price = { country: 'US', currency: 'USD', value: 9.99 };
  const short = { ...around, originally_purchased_at: around.purchased_at, store_product_id: 'unknown', price };
  await set(period(own(short)));
  expect(await chartTotal(service, 'mrr', 2020)).toBe(1_000_000_000);
  expect(await chartTotal(service, 'arr', 2020)).toBe(12_000_000_000);
  expect(await chartTotal(service, 'mrr', 2021)).toBe(0);
});

test('a price in another currency is converted to USD by the rate of the day, or the last of the seven days before', async () => {
  const rates = [
    ['2025-01-25', 'CHF', '1.1'],
    ['2025-01-27', 'SEK', '0.1'],
    ['2025-01-29', 'SEK', '0.2'],
    ['2025-02-02', 'SEK', '0.3'],
  ].map(([rate_date = '', currency = '', usd_per_unit = '']) => ({ rate_date, currency, usd_per_unit }));
  await service.database.db.insertInto('currency_rate').values(rates).execute();
  for (const [currency, usd] of [
    ['CHF', 11],
    ['SEK', 2],
  ]) {
    // The purchase is on 1 February.
    const data = await set(period(own({ price: { country: 'CH', currency, value: 10 } })));
    expect(data.total_revenue_usd).toBe(usd);
  }
});

test('proceeds in USD may exceed the number of units that a dearer currency costs', async () => {
  const rate = { rate_date: '2025-02-01', currency: 'KWD', usd_per_unit: '3.2' };
  await service.database.db.insertInto('currency_rate').values(rate).execute();
  const price = { country: 'KW', currency: 'KWD', value: 10, proceeds_usd: 27, tax_usd: 3 };
  expect((await set(period(own({ price })))).total_revenue_usd).toBe(32);
});

test('value_usd is the price if it is given, even in USD; proceeds may equal it, and tax may equal the proceeds', async () => {
  const price = { country: 'US', currency: 'USD', value: 8, value_usd: 10, proceeds_usd: 10, tax_usd: 10 };
  expect((await set(period(own({ price })))).total_revenue_usd).toBe(10);
});

test('a price may be a billion USD, and a million million units of another currency', async () => {
  const price = { country: 'VN', currency: 'USD', value: 1_000_000_000 };
  expect((await set(period(own({ price })))).total_revenue_usd).toBe(1_000_000_000);
  const dong = { ...price, currency: 'VND', value: 1_000_000_000_000, value_usd: 1_000_000_000 };
  expect((await set(period(own({ price: dong })))).total_revenue_usd).toBe(1_000_000_000);
});

test('other dates of a period may be those of its purchase', async () => {
  const moment = '2025-02-01T00:00:00.123456Z';
  const body = period(
    own({
      purchased_at: moment,
      originally_purchased_at: moment,
      renew_status: false,
      renew_status_changed_at: moment,
      billing_issue_detected_at: moment,
      refunded_at: moment,
      cancellation_reason: 'refund',
    }),
  );
  const shown = moment.replace('Z', '+0000');
  expect((await set(body)).subscriptions.monthly).toMatchObject({
    purchased_at: shown,
    originally_purchased_at: shown,
    renewal_cancelled_at: shown,
    billing_issue_detected_at: shown,
    cancellation_reason: 'refund',
  });
});

test('every id may have 255 code points of two UTF-16 units each, and a store 50', async () => {
  const id = (first: string) => `${first}${'😀'.repeat(254)}`;
  const ids = {
    store: '😀'.repeat(50),
    store_product_id: id('p'),
    store_base_plan_id: id('b'),
    store_transaction_id: id('t'),
    store_original_transaction_id: id('t'),
  };
  const others = { paywall_id: id('w'), audience_id: id('a'), placement_id: id('l'), variation_id: id('v') };
  const offer = { category: 'promotional', type: 'pay_up_front', id: id('o') };
  const { subscriptions } = await set(period({ ...ids, ...others, offer }));
  expect(subscriptions[ids.store_product_id]).toMatchObject({ ...ids, offer: { offer_id: offer.id } });
});

test('products and access levels named like members of every object are members of the dictionaries', async () => {
  for (const name of ['__proto__', 'constructor']) {
    await addAccessLevel(service, name);
    await addProduct(service, name, { access_level_id: name });
    await set(period(own({ store_product_id: name, store_original_transaction_id: `${customer}-${name}` })));
    const data = await set(
      ownOneTime({
        store_product_id: name,
        store_transaction_id: `${customer}-o-${name}`,
        store_original_transaction_id: `${customer}-o-${name}`,
      }),
    );
    for (const dictionary of [data.access_levels, data.subscriptions]) expect(Object.keys(dictionary)).toContain(name);
    const bought = Object.entries(data.non_subscriptions).find(([product]) => product === name);
    expect(bought?.[1]).toMatchObject([{ store_product_id: name }]);
  }
});

test('a store named like a member of every object has no commission', async () => {
  await set(ownOneTime({ store: 'constructor' }));
  const fact = await service.database.db
    .selectFrom('purchase')
    .where('store', '=', 'constructor')
    .select('proceeds_nano')
    .executeTakeFirstOrThrow();
  expect(fact.proceeds_nano).toBe(5_000_000_000n);
});

test("at the same price amounts stay, even if today's commission would leave too little proceeds", async () => {
  const taxed = ownOneTime({ store: 'web', price: { country: 'US', currency: 'USD', value: 5, tax_usd: 4.5 } });
  await set(taxed);
  await setStore(service.database, service.appId, { store: 'web', commission: '0.2' });
  for (const again of [taxed, { ...taxed, paywall_id: 'p1' }]) {
    expect(await set(again)).toMatchObject({ total_revenue_usd: 5 });
  }
  const dearer = { ...taxed, price: { ...taxed.price, value: 5.1 } };
  expect(await setTransaction(service, customer, dearer)).toMatchObject({ status: 400 });
});

test('amounts stay with the price, and no other member of the transaction changes them', async () => {
  const proceeds = async (body: Record<string, unknown>) => {
    await set({ ...body, store: 'shop' });
    const own = service.database.db.selectFrom('purchase').where('store', '=', 'shop');
    return (await own.select('proceeds_nano').executeTakeFirstOrThrow()).proceeds_nano;
  };
  const bought = ownOneTime();
  expect(await proceeds(bought)).toBe(5_000_000_000n);
  await setStore(service.database, service.appId, { store: 'shop', commission: '0.2' });
  const refund = { refunded_at: '2025-02-15T00:00:00Z', cancellation_reason: 'refund' };
  const later = { purchased_at: '2025-02-10T23:59:59Z' };
  for (const change of [refund, later, { store_product_id: 'other' }, {}]) {
    expect(await proceeds({ ...bought, ...change })).toBe(5_000_000_000n);
  }
  expect(await proceeds({ ...bought, price: { ...(bought.price as object), value_usd: 5 } })).toBe(4_000_000_000n);
});

test('the same ids in another store belong to another chain, which may be that of another profile', async () => {
  await set(period(own()));
  const other = `${customer}-other`;
  await createProfile(service, { customer: other });
  const response = await setTransaction(service, other, period(own({ store: 'play_store' })));
  expect(response).toMatchObject({ status: 200, json: { data: { total_revenue_usd: 10 } } });
  expect((await readProfile(service, { customer })).json.data.total_revenue_usd).toBe(10);
});

test("of chains with the same transaction id and moment, the chain's own id decides which is later", async () => {
  await addProduct(service, 'a-monthly', { access_level_id: 'premium' });
  const of = (store_product_id: string, chain: string) =>
    period(own({ store_product_id, store_original_transaction_id: `${customer}-${chain}` }));
  await set(of('a-monthly', 'z'));
  const data = await set(of('monthly', 'y'));
  expect(data.access_levels.premium).toMatchObject({ store_product_id: 'a-monthly' });
});

test('null and absent optional members mean the same, and unknown members are ignored', async () => {
  const nulls = Object.fromEntries(
    [
      'environment',
      'store_base_plan_id',
      'is_family_shared',
      'offer',
      'paywall_id',
      'refunded_at',
      'cancellation_reason',
    ].map((name) => [name, null]),
  );
  const stored = () =>
    service.database.db
      .selectFrom('purchase')
      .where('store_transaction_id', '=', `${customer}-1`)
      .selectAll()
      .executeTakeFirstOrThrow();
  await set(period(own()));
  const absent = await stored();
  await set(period(own({ ...nulls, grace_period_expires_at: null, profile_id: 'ignored', nonsense: 1 })));
  expect(await stored()).toEqual(absent);
});

test('the profile can be named by its id, and the path may lack its slash', async () => {
  const { json } = await createProfile(service, {});
  const response = await service.call('POST', SET.slice(0, -1), {
    key: service.secretKey,
    headers: { 'service-profile-id': json.data.profile_id },
    body: period(own()),
  });
  expect(response).toMatchObject({ status: 200, json: { data: { profile_id: json.data.profile_id } } });
});
