// Successful grants (interface 4.3, decisions.md 5): the answer, and what a further grant does.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { GRANT, grant } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  await addAccessLevel(service, 'gold');
});
afterAll(() => service.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DATETIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+0000$/;

/** Grants `premium` to a new profile of this name. */
async function grantTo(customerUserId: string, body: Record<string, unknown> = {}) {
  await addProfile(service, customerUserId);
  return grantAgain(customerUserId, body);
}

async function grantAgain(customerUserId: string, body: Record<string, unknown> = {}) {
  const headers = { 'service-customer-user-id': customerUserId };
  const response = await grant(service, { access_level_id: 'premium', ...body }, headers);
  expect(response.status).toBe(200);
  return response.json.data;
}

test('the answer is the profile object under data, with every member of interface 2.2', async () => {
  const profileId = await addProfile(service, 'anna');
  const before = Date.now();
  const response = await grant(service, { access_level_id: 'premium' });
  expect(response.status).toBe(200);
  expect(Object.keys(response.json)).toEqual(['data']);
  expect(response.json.data).toEqual({
    app_id: service.appId,
    profile_id: profileId,
    customer_user_id: 'anna',
    total_revenue_usd: 0,
    segment_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
    timestamp: expect.any(Number),
    custom_attributes: {},
    access_levels: { premium: expect.any(Object) },
    subscriptions: null,
    non_subscriptions: null,
  });
  expect(response.json.data.timestamp).toBeGreaterThanOrEqual(before - 2_000);
  expect(response.json.data.timestamp).toBeLessThanOrEqual(Date.now() + 2_000);
});

test('the granted level has the fields of interface 2.3 as decided', async () => {
  const data = await grantTo('bert', { starts_at: '2024-01-01T00:00:00Z', expires_at: '2099-12-31T23:59:59.5Z' });
  const level = data.access_levels.premium;
  expect(level).toEqual({
    access_level_id: 'premium',
    store: 'service',
    store_product_id: 'server_side_grant',
    store_base_plan_id: null,
    store_transaction_id: expect.stringMatching(UUID),
    store_original_transaction_id: level.store_transaction_id,
    offer: null,
    environment: 'Production',
    starts_at: '2024-01-01T00:00:00.000000+0000',
    purchased_at: expect.stringMatching(DATETIME),
    originally_purchased_at: level.purchased_at,
    expires_at: '2099-12-31T23:59:59.500000+0000',
    renewal_cancelled_at: null,
    billing_issue_detected_at: null,
    is_in_grace_period: false,
    cancellation_reason: null,
  });
});

test.each([
  ['2030-01-15T10:30:00Z', '2030-01-15T10:30:00.000000+0000'],
  ['2030-01-15T10:30:00', '2030-01-15T10:30:00.000000+0000'],
  ['2030-01-15T10:30:00+00:00', '2030-01-15T10:30:00.000000+0000'],
  ['2030-01-15T10:30:00+0530', '2030-01-15T05:00:00.000000+0000'],
  ['2030-01-15T10:30:00-11:45', '2030-01-15T22:15:00.000000+0000'],
  ['2030-01-15T10:30:00.1Z', '2030-01-15T10:30:00.100000+0000'],
  ['2030-01-15T10:30:00.123456+0000', '2030-01-15T10:30:00.123456+0000'],
  ['2030-01-15T10:30:00.1234567Z', '2030-01-15T10:30:00.123456+0000'],
  ['2030-01-15T10:30:59.999999999Z', '2030-01-15T10:30:59.999999+0000'],
  ['2028-02-29T23:59:59.000001Z', '2028-02-29T23:59:59.000001+0000'],
  ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999+0000'],
])('expires_at %s is returned as %s: no microsecond is lost, further digits are cut off', async (given, answered) => {
  const data = await grantTo(`until ${given}`, { expires_at: given });
  expect(data.access_levels.premium.expires_at).toBe(answered);
});

test.each([{}, { starts_at: null, expires_at: null }])(
  'a grant without dates is lifetime access from now: %j',
  async (body) => {
    const data = await grantTo(`lifetime ${JSON.stringify(body)}`, body);
    expect(data.access_levels.premium).toMatchObject({ starts_at: null, expires_at: null });
  },
);

test('starts_at may be in the future and expires_at in the past; both are returned as given', async () => {
  const future = await grantTo('future', { starts_at: '2090-01-01T00:00:00Z' });
  expect(future.access_levels.premium).toMatchObject({
    starts_at: '2090-01-01T00:00:00.000000+0000',
    expires_at: null,
  });
  const past = await grantTo('past', { expires_at: '2001-01-01T00:00:00Z' });
  expect(past.access_levels.premium).toMatchObject({ starts_at: null, expires_at: '2001-01-01T00:00:00.000000+0000' });
});

test('expires_at may follow starts_at by a microsecond, whatever their offsets', async () => {
  const body = { starts_at: '2030-01-01T05:30:00.000000+05:30', expires_at: '2030-01-01T00:00:00.000001Z' };
  expect((await grantTo('brief', body)).access_levels.premium).toMatchObject({
    starts_at: '2030-01-01T00:00:00.000000+0000',
    expires_at: '2030-01-01T00:00:00.000001+0000',
  });
});

test('a grant replaces the earlier grant of the level, longer or shorter; the first one sets the original date', async () => {
  const first = (await grantTo('again', { expires_at: '2090-01-01T00:00:00Z' })).access_levels.premium;
  const second = (await grantAgain('again', { expires_at: '2050-01-01T00:00:00Z' })).access_levels.premium;
  expect(second).toMatchObject({
    expires_at: '2050-01-01T00:00:00.000000+0000',
    originally_purchased_at: first.purchased_at,
  });
  expect(second.purchased_at > first.purchased_at).toBe(true);
  expect(second.store_transaction_id).not.toBe(first.store_transaction_id);
  expect(second.store_original_transaction_id).toBe(second.store_transaction_id);
  const third = (await grantAgain('again', { starts_at: '2040-01-01T00:00:00Z' })).access_levels.premium;
  expect(third).toMatchObject({ starts_at: '2040-01-01T00:00:00.000000+0000', expires_at: null });
  const fourth = (await grantAgain('again')).access_levels.premium;
  expect(fourth).toMatchObject({ starts_at: null, expires_at: null, originally_purchased_at: first.purchased_at });
});

test('grants of different levels exist side by side, in the order of their ids', async () => {
  await grantTo('two');
  const data = await grantAgain('two', { access_level_id: 'gold' });
  expect(Object.keys(data.access_levels)).toEqual(['gold', 'premium']);
});

test('unknown members are ignored', async () => {
  const data = await grantTo('unknown member', { reason: 'a present', starts: 5 });
  expect(data.access_levels.premium.starts_at).toBeNull();
});

test('the path works without its trailing slash, too', async () => {
  await addProfile(service, 'slash');
  const response = await service.call('POST', GRANT.slice(0, -1), {
    key: service.secretKey,
    headers: { 'service-customer-user-id': 'slash' },
    body: { access_level_id: 'premium' },
  });
  expect(response.status).toBe(200);
});

test('answers to a secret key must not be stored', async () => {
  await addProfile(service, 'headers');
  const response = await grant(service, { access_level_id: 'premium' }, { 'service-customer-user-id': 'headers' });
  expect(response.headers['cache-control']).toBe('no-store');
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('a later state never carries an earlier timestamp', async () => {
  await addProfile(service, 'clock');
  const levels = Array.from({ length: 20 }, (_, i) => `2030-01-01T00:00:${String(i).padStart(2, '0')}Z`);
  const answers = await Promise.all(levels.map((expires_at) => grantAgain('clock', { expires_at })));
  const byState = answers.sort((a, b) =>
    a.access_levels.premium.purchased_at < b.access_levels.premium.purchased_at ? -1 : 1,
  );
  const timestamps = byState.map(({ timestamp }) => timestamp);
  expect(timestamps).toEqual([...timestamps].sort((a, b) => a - b));
});

test('a grant leaves revenue, analytics and purchases untouched, and writes no event without a webhook', async () => {
  const data = await grantTo('untouched');
  expect(data).toMatchObject({ total_revenue_usd: 0, subscriptions: null, non_subscriptions: null });
  for (const table of ['purchase', 'fact_transaction', 'fact_install', 'webhook_event'] as const) {
    const { rows } = await service.database.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .execute()
      .then((found) => ({ rows: found }));
    expect([table, rows[0]?.count]).toEqual([table, 0n]);
  }
});
