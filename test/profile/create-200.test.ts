// Creating profiles: who gets which id, and what is stored.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { createProfile, PROFILE, readProfile, storedProfile } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('a customer user id creates a profile, whose id the service chooses', async () => {
  const response = await createProfile(service, { customer: 'anna' });
  expect(response.status).toBe(200);
  expect(response.headers['cache-control']).toBe('no-store');
  expect(response.json).toEqual({
    data: {
      app_id: service.appId,
      profile_id: expect.stringMatching(UUID),
      customer_user_id: 'anna',
      total_revenue_usd: 0,
      segment_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      timestamp: expect.any(Number),
      custom_attributes: {},
      access_levels: null,
      subscriptions: null,
      non_subscriptions: null,
    },
  });
});

test('creating with the same customer user id again returns the existing profile, updated', async () => {
  const first = await createProfile(
    service,
    { customer: 'bert' },
    { country: 'DE', custom_attributes: { a: 'x', b: 1 } },
  );
  const again = await createProfile(service, { customer: 'bert' }, { store: 'stripe', custom_attributes: { b: 2 } });
  expect(again.json.data.profile_id).toBe(first.json.data.profile_id);
  expect(again.json.data.custom_attributes).toEqual({ a: 'x', b: 2 });
  expect(await storedProfile(service, first.json.data.profile_id)).toMatchObject({
    row: { country: 'DE', store: 'stripe' },
    install: { country: 'de', store: 'stripe' },
  });
});

test('without an identifier each request creates another anonymous profile', async () => {
  const ids = [];
  for (const headers of [{}, { 'service-customer-user-id': ' ', 'service-profile-id': '' }]) {
    const { json } = await service.call('POST', PROFILE, { key: service.secretKey, headers, body: {} });
    expect(json.data.customer_user_id).toBeNull();
    ids.push(json.data.profile_id);
  }
  expect(new Set(ids).size).toBe(2);
});

test('a profile id alone updates its profile', async () => {
  const { json } = await createProfile(service, {});
  const profile = json.data.profile_id;
  const again = await createProfile(service, { profile }, { custom_attributes: { a: 'x' } });
  expect(again.json.data).toMatchObject({ profile_id: profile, customer_user_id: null, custom_attributes: { a: 'x' } });
});

test('a request with both identifiers gives the customer user id to the profile', async () => {
  const { json } = await createProfile(service, {});
  const profile = json.data.profile_id;
  const attached = await createProfile(service, { profile, customer: 'carl' }, { country: 'fr' });
  expect(attached.json.data).toMatchObject({ profile_id: profile, customer_user_id: 'carl' });
  expect((await createProfile(service, { profile, customer: 'carl' })).status).toBe(200);
  expect((await readProfile(service, { customer: 'carl' })).json.data.profile_id).toBe(profile);
  expect((await storedProfile(service, profile)).row.country).toBe('FR');
});

test('a profile that gets another customer user id loses the previous one, which is then free', async () => {
  const { json } = await createProfile(service, { customer: 'dora' });
  const profile = json.data.profile_id;
  await createProfile(service, { profile, customer: 'dora2' });
  expect((await readProfile(service, { customer: 'dora2' })).json.data.profile_id).toBe(profile);
  expect((await readProfile(service, { customer: 'dora' })).status).toBe(404);
  expect((await createProfile(service, { customer: 'dora' })).json.data.profile_id).not.toBe(profile);
});

test('installed_at, country, store and custom_attributes are stored, and the install is counted', async () => {
  const { json } = await createProfile(
    service,
    { customer: 'emil' },
    {
      installed_at: '2025-01-02T01:30:00.123456+0200',
      country: 'us',
      store: 'my store',
      custom_attributes: [
        { key: 'plan', value: 'gold' },
        { key: 'is_new', value: true },
      ],
      unknown_member: 'ignored',
    },
  );
  expect(json.data.custom_attributes).toEqual({ plan: 'gold', is_new: 1 });
  expect(await storedProfile(service, json.data.profile_id)).toMatchObject({
    row: { installed_at: '2025-01-01 23:30:00.123456+00', country: 'US', store: 'my store' },
    install: {
      installed_at: '2025-01-01 23:30:00.123456+00',
      installed_day: 20_089,
      country: 'us',
      store: 'my store',
      attribution_key: 0,
    },
  });
});

test('without installed_at a profile is installed now; null members count as absent', async () => {
  const body = { installed_at: null, country: null, store: null, custom_attributes: null };
  const { json } = await createProfile(service, { customer: 'fred' }, body);
  const { row, install } = await storedProfile(service, json.data.profile_id);
  expect(Math.abs(Date.parse(row.installed_at) - Date.now())).toBeLessThan(5_000);
  expect(row).toMatchObject({ country: null, store: null, custom_attributes: {} });
  expect(install).toMatchObject({ installed_at: row.installed_at, country: '', store: '' });
});

test('the path without its trailing slash, and header aliases, mean the same', async () => {
  const other = await startService({ env: { HEADER_ALIASES: 'acme' } });
  const response = await other.call('POST', PROFILE.slice(0, -1), {
    key: other.secretKey,
    headers: { 'acme-customer-user-id': 'anna' },
    body: {},
  });
  expect(response.json.data.customer_user_id).toBe('anna');
  await other.close();
});

test('fifty concurrent requests for one new customer user id make one profile', async () => {
  const responses = await Promise.all(Array.from({ length: 50 }, () => createProfile(service, { customer: 'gina' })));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(responses.map(({ json }) => json.data.profile_id)).size).toBe(1);
  const rows = await service.database.db
    .selectFrom('profile')
    .select('profile_id')
    .where('customer_user_id', '=', 'gina')
    .execute();
  expect(rows).toHaveLength(1);
});
