// Revoking: 200 and every 400. Its 404 and 401 are those of all operations on a profile.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keyContract } from '../http/key-contract.ts';
import { createProfile, readProfile } from '../profile/world.ts';
import { period, setTransaction } from '../purchases/world.ts';
import { refused } from '../setup/refused.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { grant, REVOKE, revoke } from './world.ts';

let service: TestService;
let headers: Record<string, string>;
let count = 0;
beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  await addAccessLevel(service, 'gold');
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
});
afterAll(() => service.close());
beforeEach(async () => {
  const customer = `customer-${++count}`;
  headers = { 'service-customer-user-id': customer };
  await createProfile(service, { customer });
});

const give = (body: object = {}) => grant(service, { access_level_id: 'premium', ...body }, headers);
const take = (body: object = {}) => revoke(service, { access_level_id: 'premium', ...body }, headers);

test.each([{}, { revoke_at: null }])('%j ends the grant now', async (body) => {
  const granted = (await give()).json.data.access_levels.premium;
  const before = Date.now();
  const response = await take(body);
  expect(response.status).toBe(200);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(response.headers['cache-control']).toBe('no-store');
  const { premium } = response.json.data.access_levels;
  expect(premium).toEqual({ ...granted, expires_at: expect.any(String) });
  expect(Date.parse(premium.expires_at)).toBeGreaterThanOrEqual(before - 1_000);
  expect(Date.parse(premium.expires_at)).toBeLessThanOrEqual(response.json.data.timestamp);
});

test('a future moment shortens the grant, and may be brought forward', async () => {
  await give({ expires_at: '2090-01-01T00:00:00Z' });
  for (const revoke_at of ['2090-01-01T00:00:00Z', '2080-01-01T00:00:00.123456+0100', '2070-01-01T00:00:00Z']) {
    expect((await take({ revoke_at })).status).toBe(200);
  }
  expect((await take()).json.data.access_levels.premium.expires_at.slice(0, 4)).toMatch(/^20[23]/);
});

test('the grants of other levels and other profiles stay', async () => {
  const neighbour = { 'service-customer-user-id': `${headers['service-customer-user-id']}-neighbour` };
  await createProfile(service, { customer: neighbour['service-customer-user-id'] });
  await grant(service, { access_level_id: 'premium' }, neighbour);
  await give({ access_level_id: 'gold' });
  await give();
  const { gold, premium } = (await take()).json.data.access_levels;
  expect([gold.expires_at, premium.expires_at]).toEqual([null, expect.any(String)]);
  const { access_levels } = (await readProfile(service, { customer: neighbour['service-customer-user-id'] })).json.data;
  expect(access_levels.premium.expires_at).toBeNull();
});

test('a grant that has not begun ends before it begins', async () => {
  await give({ starts_at: '2090-01-01T00:00:00Z' });
  const { premium } = (await take()).json.data.access_levels;
  expect(premium.starts_at).toBe('2090-01-01T00:00:00.000000+0000');
  expect(premium.expires_at < premium.starts_at).toBe(true);
});

test('access from a purchase stays, and the answer shows it', async () => {
  const name = headers['service-customer-user-id'] as string;
  const ids = { store_transaction_id: name, store_original_transaction_id: name };
  await setTransaction(service, name, period({ ...ids, expires_at: '2098-01-01T00:00:00Z' }));
  expect((await give()).json.data.access_levels.premium.store).toBe('service');
  const { access_levels, total_revenue_usd } = (await take()).json.data;
  expect(access_levels.premium).toMatchObject({ store: 'app_store', expires_at: '2098-01-01T00:00:00.000000+0000' });
  expect(total_revenue_usd).toBe(10);
});

test('a later grant of the level keeps the date of the first', async () => {
  const first = (await give()).json.data.access_levels.premium;
  await take();
  const again = (await give()).json.data.access_levels.premium;
  expect(again.originally_purchased_at).toBe(first.originally_purchased_at);
  expect(again.expires_at).toBeNull();
});

describe('400', () => {
  test('for a level that the app has not configured', async () => {
    expect(await take({ access_level_id: 'platinum' })).toMatchObject(
      refused('paid_access_level_does_not_exist', ['non_field_errors', /platinum/]),
    );
  });

  test('for a level that was not granted to the profile, even if a purchase gives it', async () => {
    const expected = refused('profile_paid_access_level_does_not_exist', ['non_field_errors', /premium/]);
    await grant(service, { access_level_id: 'gold' }, headers);
    expect(await take()).toMatchObject(expected);
    const name = headers['service-customer-user-id'] as string;
    const ids = { store_transaction_id: name, store_original_transaction_id: name };
    await setTransaction(service, name, period({ ...ids, expires_at: '2098-01-01T00:00:00Z' }));
    expect(await take()).toMatchObject(expected);
  });

  test('for a moment in the past', async () => {
    await give();
    expect(await take({ revoke_at: '2025-01-01T00:00:00Z' })).toMatchObject(
      refused('value_error', ['revoke_at', /past/]),
    );
  });

  test('for a moment after the end of the grant, or for now if it is over', async () => {
    const expected = refused('revocation_date_more_than_expiration_date', ['non_field_errors', /ends before/]);
    await give({ expires_at: '2090-01-01T00:00:00Z' });
    expect(await take({ revoke_at: '2090-01-01T00:00:00.000001Z' })).toMatchObject(expected);
    await give({ expires_at: '2025-01-01T00:00:00Z' });
    expect(await take()).toMatchObject(expected);
    await give();
    expect((await take()).status).toBe(200);
    expect(await take()).toMatchObject(expected);
  });

  test('for fields of the wrong kind', async () => {
    expect(await take({ access_level_id: null })).toMatchObject(refused('missing', ['access_level_id', /required/]));
    expect(await take({ access_level_id: 5 })).toMatchObject(refused('type_error', ['access_level_id', /string/]));
    expect(await take({ revoke_at: '2090-01-01' })).toMatchObject(refused('datetime', ['revoke_at', /ISO 8601/]));
  });

  test('for an access level id of 256 characters, with U+0000 or an unpaired surrogate', async () => {
    for (const access_level_id of ['x'.repeat(256), '💡'.repeat(256), 'a\u0000', 'a\ud800']) {
      expect(await take({ access_level_id })).toMatchObject(refused('value_error', ['access_level_id', /./]));
    }
    // As many characters as an id may have: a level that the app has not configured.
    expect(await take({ access_level_id: '💡'.repeat(255) })).toMatchObject(
      refused('paid_access_level_does_not_exist', ['non_field_errors', /💡/u]),
    );
  });

  test('if no header names the profile', async () => {
    expect(await revoke(service, { access_level_id: 'premium' }, {})).toMatchObject(
      refused('profile_does_not_exist', ['non_field_errors', /service-customer-user-id/]),
    );
  });
});

test('404 for a profile that does not exist, before the level is looked at', async () => {
  for (const named of [{ 'service-profile-id': randomUUID() }, { 'service-customer-user-id': 'nobody' }]) {
    expect(await revoke(service, { access_level_id: 'platinum' }, named as Record<string, string>)).toMatchObject({
      status: 404,
      json: { error_code: 'profile_does_not_exist', errors: [{ source: null }] },
    });
  }
});

describe('401', () => {
  keyContract({ method: 'POST', path: REVOKE, kind: 'secret', body: { access_level_id: 'premium' } });
});
