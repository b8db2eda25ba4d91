// Deleting a profile: what goes, what stays so that every chart keeps its figures, and who can take over its chains.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { grant, revoke } from '../grants/world.ts';
import { addEndpoint, chartTotal, listEvents, period, setTransaction } from '../purchases/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { createProfile, deleteProfile, PROFILE, readProfile, storedProfile, updateProfile } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  await addEndpoint(service);
});
afterAll(() => service.close());

const IDENTIFYING = /anna|secret-network-id|gold/;

function attribute(customer: string, campaign: string) {
  return service.call('POST', '/api/v2/web-api/attribution/', {
    key: service.publicKey,
    body: { status: 'non_organic', campaign, attribution_user_id: 'secret-network-id', customer_user_id: customer },
  });
}

/** Creates a profile with everything that a profile can have. */
async function createFullProfile(customer: string): Promise<string> {
  const { json } = await createProfile(
    service,
    { customer },
    { country: 'DE', store: 'stripe', installed_at: '2025-01-31T00:00:00Z', custom_attributes: { plan: 'gold' } },
  );
  await attribute(customer, 'spring');
  const ids = { store_transaction_id: `${customer}-1`, store_original_transaction_id: `${customer}-c` };
  await setTransaction(service, customer, period({ ...ids, expires_at: '2099-01-01T00:00:00Z' }));
  const headers = { 'service-customer-user-id': customer, 'idempotency-key': 'once' };
  await grant(service, { access_level_id: 'premium' }, headers);
  return json.data.profile_id;
}

async function figures() {
  const charts = ['revenue', 'installs', 'subscriptions_new', 'subscriptions_active'];
  const values = await Promise.all(charts.map((chart) => chartTotal(service, chart)));
  const { json } = await service.call('POST', '/api/v1/client-api/metrics/analytics/', {
    key: service.secretKey,
    body: {
      chart_id: 'revenue',
      segmentation: 'attribution_campaign',
      period_unit: 'year',
      filters: { date: ['2025-01-01', '2025-12-31'] },
    },
  });
  const segments = json.data.revenue.data.map(({ type, value }: { type: string; value: number }) => [type, value]);
  return { values, segments };
}

test('everything that names or describes the user is removed from the profile, its events and the kept responses', async () => {
  const profile = await createFullProfile('anna');
  const response = await deleteProfile(service, { customer: 'anna' });
  expect(response).toMatchObject({ status: 204, text: '' });
  const { db } = service.database;
  const tables = ['profile_identity', 'profile_attribution', 'access_grant', 'kept_response', 'lapse_watch'] as const;
  for (const table of tables)
    expect(await db.selectFrom(table).selectAll().where('profile_id', '=', profile).execute()).toEqual([]);
  const { row, install } = await storedProfile(service, profile);
  expect(row).toMatchObject({
    customer_user_id: null,
    custom_attributes: {},
    country: 'DE',
    store: 'stripe',
    installed_at: '2025-01-31 00:00:00+00',
    deleted_at: expect.any(String),
  });
  expect(install).toMatchObject({ country: 'de', store: 'stripe' });
  const events = await listEvents(service, profile);
  expect(events.length).toBeGreaterThan(1);
  for (const { customer_user_id, payload } of events) {
    expect(customer_user_id).toBeNull();
    expect(payload).toMatchObject({ customer_user_id: null, user_attributes: {} });
    expect(payload.attributions.custom?.network_user_id ?? null).toBeNull();
  }
  const everything = JSON.stringify([row, install, events], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect(everything.replaceAll('anna-', '')).not.toMatch(IDENTIFYING);
});

test.each([
  ['before its facts were labelled', false],
  ['after its facts were labelled', true],
])('every chart keeps its figures when a profile is deleted %s', async (name, isLabelled) => {
  const customer = `labelled-${isLabelled}`;
  await createFullProfile(customer);
  await attribute(customer, `campaign ${name}`);
  if (isLabelled) while ((await relabelBatch(service.database.db)) > 0);
  const before = await figures();
  expect(before.segments).toContainEqual([`campaign ${name}`, 10]);
  expect((await deleteProfile(service, { customer })).status).toBe(204);
  expect(await figures()).toEqual(before);
});

test('a deleted profile is not found by any operation', async () => {
  const profile = await createFullProfile('carl');
  await deleteProfile(service, { profile });
  const headers = { 'service-profile-id': profile };
  const responses = await Promise.all([
    readProfile(service, { profile }),
    readProfile(service, { customer: 'carl' }),
    updateProfile(service, { profile }),
    deleteProfile(service, { profile }),
    createProfile(service, { profile }),
    createProfile(service, { profile, customer: 'carl' }),
    grant(service, { access_level_id: 'premium' }, headers),
    grant(service, { access_level_id: 'premium' }, { ...headers, 'idempotency-key': 'once' }),
    revoke(service, { access_level_id: 'premium' }, headers),
    setTransaction(service, headers, period()),
    attribute('carl', 'x'),
  ]);
  for (const { status, json } of responses) {
    expect(status).toBe(404);
    expect(json.error_code).toBe('profile_does_not_exist');
  }
});

test('the customer user id of a deleted profile is free for a new one, which takes over a chain with its first transaction', async () => {
  const old = await createFullProfile('dora');
  await deleteProfile(service, { customer: 'dora' });
  const before = await figures();
  const created = await createProfile(service, { customer: 'dora' }, { installed_at: '2024-01-01T00:00:00Z' });
  expect(created.json.data.profile_id).not.toBe(old);
  expect(created.json.data.subscriptions).toBeNull();
  const next = {
    store_transaction_id: 'dora-2',
    store_original_transaction_id: 'dora-c',
    purchased_at: '2025-03-01T00:00:00Z',
    expires_at: '2099-02-01T00:00:00Z',
  };
  const { json } = await setTransaction(service, 'dora', period(next));
  expect(json.data).toMatchObject({ profile_id: created.json.data.profile_id, total_revenue_usd: 20 });
  const events = await listEvents(service, created.json.data.profile_id);
  expect(events.map(({ event_type }) => event_type)).toEqual(['subscription_renewed', 'access_level_updated']);
  const after = await figures();
  // One renewal more, and as many subscriptions as before.
  expect(after.values[0]).toBe((before.values[0] ?? 0) + 10);
  expect(after.values.slice(2)).toEqual(before.values.slice(2));
});

test('sending a transaction of a deleted profile again moves its chain without reporting a purchase', async () => {
  await createFullProfile('emil');
  await deleteProfile(service, { customer: 'emil' });
  const { json } = await createProfile(service, { customer: 'emil2' });
  const ids = { store_transaction_id: 'emil-1', store_original_transaction_id: 'emil-c' };
  await setTransaction(service, 'emil2', period({ ...ids, expires_at: '2099-01-01T00:00:00Z' }));
  const events = await listEvents(service, json.data.profile_id);
  expect(events.map(({ event_type }) => event_type)).toEqual(['access_level_updated']);
});

test('attributions that arrive during a deletion are recorded before it or not at all', async () => {
  for (let round = 0; round < 20; round++) {
    const customer = `fleeting-${round}`;
    const { profile_id } = (await createProfile(service, { customer })).json.data;
    if (round % 2 === 0) await attribute(customer, 'before');
    const posts = [{ customer_user_id: customer }, { profile_id }, { customer_user_id: customer, profile_id }].flatMap(
      (naming) =>
        ['spring', 'autumn'].map((campaign) =>
          service.call('POST', '/api/v2/web-api/attribution/', {
            key: service.publicKey,
            body: { status: 'non_organic', campaign: `${campaign}-${round}`, ...naming },
          }),
        ),
    );
    await sleep(round / 2);
    expect((await deleteProfile(service, { customer })).status).toBe(204);
    for (const { status } of await Promise.all(posts)) expect([201, 404]).toContain(status);
    const { rows } = await sql<{ left: bigint }>`
      select (select count(*) from profile_attribution where profile_id = ${profile_id})
        + (select count(*) from profile_identity where profile_id = ${profile_id})
        + (select count(*) from label_pending where profile_id = ${profile_id}) as left`.execute(service.database.db);
    expect(Number(rows[0]?.left)).toBe(0);
  }
});

test('a request with a Content-Type but no body is not refused', async () => {
  await createProfile(service, { customer: 'fred' });
  const headers = { 'service-customer-user-id': 'fred', 'content-type': 'application/json' };
  expect((await service.call('GET', PROFILE, { key: service.secretKey, headers })).status).toBe(200);
  expect((await service.call('DELETE', PROFILE, { key: service.secretKey, headers })).status).toBe(204);
});
