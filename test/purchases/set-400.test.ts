// Transactions that are refused: each rule of the transaction record has its own clear message, and nothing is stored.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProfile } from '../profile/world.ts';
import { refused } from '../setup/refused.ts';
import { startService, type TestService } from '../setup/service.ts';
import { oneTime, period, setTransaction } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await createProfile(service, { customer: 'anna' });
});
afterAll(async () => {
  const rows = await service.database.db.selectFrom('purchase').selectAll().execute();
  await service.close();
  expect(rows.map(({ store_transaction_id }) => store_transaction_id)).toEqual(['bert-1']);
});

const usd = (members: object) => ({ price: { country: 'US', currency: 'USD', value: 10, ...members } });
const issue = { billing_issue_detected_at: '2025-03-01T00:00:00Z' };

test.each<[string, object, string, string, RegExp]>([
  ['no purchase_type', { purchase_type: undefined }, 'missing', 'purchase_type', /required/],
  ['an unknown purchase_type', { purchase_type: 'rent' }, 'enum', 'purchase_type', /subscription, one_time_purchase/],
  ['no store', { store: null }, 'missing', 'store', /required/],
  ['an empty store', { store: '' }, 'value_error', 'store', /at least 1/],
  ['a store of 51 characters', { store: 's'.repeat(51) }, 'value_error', 'store', /at most 50/],
  ['an unknown environment', { environment: 'production' }, 'enum', 'environment', /Production, Sandbox/],
  ['an id of 256 characters', { store_transaction_id: 'x'.repeat(256) }, 'value_error', 'store_transaction_id', /255/],
  ['an id with U+0000', { store_product_id: 'a\u0000' }, 'value_error', 'store_product_id', /U\+0000/],
  ['a number as an id', { store_product_id: 5 }, 'type_error', 'store_product_id', /string/],
  ['no price', { price: undefined }, 'missing', 'price', /required/],
  ['a price without a value', { price: { country: 'US', currency: 'USD' } }, 'missing', 'price.value', /required/],
  ['a negative price', usd({ value: -1 }), 'value_error', 'price.value', /at least 0/],
  ['seven decimals', usd({ value: 0.1234567 }), 'value_error', 'price.value', /^Must have at most 6 decimal places\.$/],
  [
    'seven decimals in USD',
    usd({ proceeds_usd: 0.1234567 }),
    'value_error',
    'price.proceeds_usd',
    /^Must have at most 6 decimal places\.$/,
  ],
  [
    'more than a billion USD',
    usd({ value: 1_000_000_000.000001 }),
    'value_error',
    'price.value',
    /at most 1000000000 USD/,
  ],
  [
    'more than a billion USD as the overriding price',
    usd({ value_usd: 1_000_000_000.000001 }),
    'value_error',
    'price.value_usd',
    /at most 1000000000\.$/,
  ],
  [
    'more than a million million units',
    usd({ currency: 'VND', value: 1_000_000_000_000.01, value_usd: 1 }),
    'value_error',
    'price.value',
    /at most 1000000000000\.$/,
  ],
  ['a price as text', usd({ value: '10' }), 'type_error', 'price.value', /number/],
  ['a country of three letters', usd({ country: 'USA' }), 'value_error', 'price.country', /2-letter/],
  ['a country with a digit', usd({ country: 'U1' }), 'value_error', 'price.country', /2-letter/],
  ['a currency in lower case', usd({ currency: 'usd' }), 'value_error', 'price.currency', /ISO 4217/],
  ['a currency without a rate', usd({ currency: 'XAU' }), 'value_error', 'price.value_usd', /no XAU rate/],
  [
    'proceeds above the price',
    usd({ proceeds_usd: 10.01 }),
    'value_error',
    'price.proceeds_usd',
    /more than the price/,
  ],
  [
    'tax above the proceeds',
    usd({ proceeds_usd: 5, tax_usd: 5.01 }),
    'value_error',
    'price.tax_usd',
    /more than the proceeds/,
  ],
  [
    'tax above the proceeds after commission',
    usd({ tax_usd: 7.01 }),
    'value_error',
    'price.tax_usd',
    /more than the proceeds/,
  ],
  ['a date without time', { purchased_at: '2025-02-01' }, 'datetime', 'purchased_at', /ISO 8601/],
  ['no expires_at', { expires_at: null }, 'missing', 'expires_at', /required for a subscription/],
  [
    'no originally_purchased_at',
    { originally_purchased_at: null },
    'missing',
    'originally_purchased_at',
    /required for a sub/,
  ],
  ['no renew_status', { renew_status: undefined }, 'missing', 'renew_status', /required for a subscription/],
  [
    'an original purchase after the purchase',
    { originally_purchased_at: '2025-02-01T00:00:00.000001Z' },
    'value_error',
    'originally_purchased_at',
    /after purchased_at/,
  ],
  ['an end at the purchase', { expires_at: '2025-02-01T00:00:00Z' }, 'value_error', 'expires_at', /after purchased_at/],
  [
    'renew_status changed before the purchase',
    { renew_status_changed_at: '2025-01-31T23:59:59Z' },
    'value_error',
    'renew_status_changed_at',
    /before purchased_at/,
  ],
  [
    'a billing issue before the purchase',
    { billing_issue_detected_at: '2025-01-31T23:59:59Z' },
    'value_error',
    'billing_issue_detected_at',
    /before purchased_at/,
  ],
  [
    'a grace period without a billing issue',
    { grace_period_expires_at: '2025-03-10T00:00:00Z' },
    'value_error',
    'grace_period_expires_at',
    /requires billing_issue/,
  ],
  [
    'a grace period that ends with the period',
    { ...issue, grace_period_expires_at: '2025-03-01T00:00:00Z' },
    'value_error',
    'grace_period_expires_at',
    /after expires_at/,
  ],
  [
    'an offer without an id',
    { offer: { category: 'promotional', type: 'pay_up_front', id: null } },
    'missing',
    'offer.id',
    /required unless the category is introductory/,
  ],
  [
    'a free trial with a price',
    { offer: { category: 'introductory', type: 'free_trial' } },
    'value_error',
    'offer.type',
    /price 0/,
  ],
  [
    'a free trial with a price in USD alone',
    { offer: { category: 'introductory', type: 'free_trial' }, ...usd({ value: 0, value_usd: 1 }) },
    'value_error',
    'offer.type',
    /price 0/,
  ],
  [
    'an unknown offer',
    { offer: { category: 'gift', type: 'pay_up_front', id: 'x' } },
    'enum',
    'offer.category',
    /win_back/,
  ],
  [
    'a refund without its reason',
    { refunded_at: '2025-02-02T00:00:00Z' },
    'value_error',
    'cancellation_reason',
    /refund/,
  ],
  ['a reason without its refund', { cancellation_reason: 'refund' }, 'value_error', 'refunded_at', /Is required when/],
  [
    'a refund before the purchase',
    { refunded_at: '2025-01-31T00:00:00Z', cancellation_reason: 'refund' },
    'value_error',
    'refunded_at',
    /before purchased_at/,
  ],
  ['an unknown reason', { cancellation_reason: 'bored' }, 'enum', 'cancellation_reason', /voluntarily_cancelled/],
])('%s is refused', async (_, members, code, source, message) => {
  expect(await setTransaction(service, 'anna', period(members as never))).toMatchObject(
    refused(code, [source, message]),
  );
});

test.each(['offer_code', 'win_back', 'retention'])('an offer of %s without an id is refused', async (category) => {
  const offer = { category, type: 'pay_up_front' };
  expect(await setTransaction(service, 'anna', period({ offer }))).toMatchObject(
    refused('missing', ['offer.id', /required unless the category is introductory/]),
  );
});

test('a price that JSON can write but no number can hold is refused', async () => {
  const endless = JSON.stringify(period()).replace('"value":10', '"value":1e999');
  expect(await setTransaction(service, 'anna', endless)).toMatchObject(
    refused('value_error', ['price.value', /^Must be at most/]),
  );
});

test('a one-time purchase that does not repeat its id is refused', async () => {
  expect(await setTransaction(service, 'anna', oneTime({ store_original_transaction_id: 'other' }))).toMatchObject(
    refused('value_error', ['store_original_transaction_id', /equal store_transaction_id/]),
  );
});

test('a grace period before a one-time purchase is refused', async () => {
  const before = { ...issue, grace_period_expires_at: '2025-02-09T23:59:59Z' };
  expect(await setTransaction(service, 'anna', oneTime(before))).toMatchObject(
    refused('value_error', ['grace_period_expires_at', /before purchased_at/]),
  );
});

test('a grace period before both the purchase and the end of its period is reported once', async () => {
  const before = { ...issue, grace_period_expires_at: '2025-01-31T00:00:00Z' };
  expect(await setTransaction(service, 'anna', period(before))).toMatchObject(
    refused('value_error', ['grace_period_expires_at', /after expires_at/]),
  );
});

test('an offer and a price that each break two rules are reported with both', async () => {
  const price = { country: 'US', currency: 'USD', value: 5, proceeds_usd: 6, tax_usd: 7 };
  const body = period({ offer: { category: 'promotional', type: 'free_trial' }, price } as never);
  expect(await setTransaction(service, 'anna', body)).toMatchObject(
    refused(
      'value_error',
      ['price.proceeds_usd', /price/],
      ['price.tax_usd', /proceeds/],
      ['offer.type', /0/],
      ['offer.id', /introductory/],
    ),
  );
});

test('all offending fields are reported together, in the order of the table', async () => {
  const body = period({ store: '', renew_status: null, offer: 'none', expires_at: '2024-01-01T00:00:00Z' });
  expect(await setTransaction(service, 'anna', body)).toMatchObject(
    refused('value_error', ['store', /./], ['expires_at', /./], ['renew_status', /./], ['offer', /./]),
  );
});

test('all offending members of the objects are reported together', async () => {
  const price = { country: 'USA', currency: 'USD', value_usd: -1 };
  const body = period({ price, purchased_at: 'today', offer: { category: 'gift' } });
  expect(await setTransaction(service, 'anna', body)).toMatchObject(
    refused(
      'value_error',
      ['price.country', /2-letter/],
      ['price.value', /required/],
      ['price.value_usd', /at least 0/],
      ['purchased_at', /ISO 8601/],
      ['offer.category', /win_back/],
      ['offer.type', /required/],
    ),
  );
});

test('a missing member is not also held against the other members', async () => {
  expect(await setTransaction(service, 'anna', oneTime({ store_transaction_id: null }))).toMatchObject(
    refused('missing', ['store_transaction_id', /required/]),
  );
});

test('a chain of another living profile is refused', async () => {
  await createProfile(service, { customer: 'bert' });
  const bert = { store_transaction_id: 'bert-1', store_original_transaction_id: 'bert' };
  expect((await setTransaction(service, 'bert', period(bert))).status).toBe(200);
  for (const id of ['bert-1', 'anna-2']) {
    expect(await setTransaction(service, 'anna', period({ ...bert, store_transaction_id: id }))).toMatchObject(
      refused('value_error', ['store_original_transaction_id', /another profile/]),
    );
  }
});

test('a request whose headers name no profile is refused', async () => {
  expect(await setTransaction(service, {}, period())).toMatchObject(
    refused('profile_does_not_exist', ['non_field_errors', /service-customer-user-id/]),
  );
});
