// An app with --sharing transfer: a chain moves to the profile that brings one of its transactions.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setStore } from '../../src/apps/catalogue.ts';
import { createProfile, readProfile } from '../profile/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { addEndpoint, chartTotal, listEvents, oneTime, period, setTransaction } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ app: { name: 'Sharing', sharing: 'transfer' } });
  await addAccessLevel(service, 'premium');
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  await addEndpoint(service);
});
afterAll(() => service.close());

const FUTURE = '2099-01-01T00:00:00Z';

test('a chain moves with all its transactions, and what became of their access is reported for both profiles', async () => {
  const ids = await Promise.all(
    ['anna', 'bert'].map(
      async (customer) => (await createProfile(service, { customer })).json.data.profile_id as string,
    ),
  );
  await setTransaction(service, 'anna', period());
  const next = { store_transaction_id: 't2', purchased_at: '2025-03-01T00:00:00Z', expires_at: FUTURE };
  const { json } = await setTransaction(service, 'bert', period(next));
  expect(json.data).toMatchObject({
    total_revenue_usd: 20,
    subscriptions: { monthly: { store_transaction_id: 't2' } },
    access_levels: { premium: { store_transaction_id: 't2' } },
  });
  expect((await readProfile(service, { customer: 'anna' })).json.data).toMatchObject({
    total_revenue_usd: 0,
    subscriptions: null,
    access_levels: null,
  });
  expect(await chartTotal(service, 'revenue')).toBe(20);
  expect(await chartTotal(service, 'subscriptions_new')).toBe(1);
  const [annas, berts] = await Promise.all(ids.map((id) => listEvents(service, id)));
  expect(berts?.map(({ event_type }) => event_type)).toEqual(['subscription_renewed', 'access_level_updated']);
  expect(annas?.map(({ event_type }) => event_type)).toEqual([
    'subscription_started',
    'access_level_updated',
    'access_level_updated',
  ]);
  expect(annas?.at(-1)?.payload.event_properties).toMatchObject({
    is_active: false,
    profile_has_access_level: false,
    profile_total_revenue_usd: 0,
  });
  const watched = await service.database.db.selectFrom('lapse_watch').select('profile_id').execute();
  expect(watched).toEqual([{ profile_id: ids[1] }]);
});

test('access that leaves with its chain is reported as ended; other chains are still watched', async () => {
  const { profile_id } = (await createProfile(service, { customer: 'cleo' })).json.data;
  await createProfile(service, { customer: 'dora' });
  const lasting = (id: string) =>
    period({ store_transaction_id: id, store_original_transaction_id: id, expires_at: FUTURE });
  await setTransaction(service, 'cleo', lasting('other'));
  const watched = () =>
    service.database.db.selectFrom('lapse_watch').select('purchase_no').where('profile_id', '=', profile_id).execute();
  const stays = await watched();
  expect(stays).toHaveLength(1);
  await setTransaction(service, 'cleo', lasting('moving'));
  await setTransaction(service, 'dora', lasting('moving'));
  expect(await watched()).toEqual(stays);
  await setTransaction(service, 'dora', lasting('other'));
  expect((await listEvents(service, profile_id)).at(-1)).toMatchObject({
    event_type: 'access_level_updated',
    payload: { event_properties: { is_active: false, profile_has_access_level: false } },
  });
});

test('a one-time purchase keeps its id when it moves', async () => {
  for (const customer of ['gina', 'hugo']) await createProfile(service, { customer });
  const ids = { store_transaction_id: 'kept', store_original_transaction_id: 'kept' };
  const first = await setTransaction(service, 'gina', oneTime(ids));
  const moved = await setTransaction(service, 'hugo', oneTime(ids));
  expect(moved.json.data.non_subscriptions).toEqual(first.json.data.non_subscriptions);
});

test("a chain is taken over with the amounts that it had, even if today's commission would leave too little proceeds", async () => {
  for (const customer of ['emma', 'finn']) await createProfile(service, { customer });
  const price = { country: 'US', currency: 'USD', value: 5, tax_usd: 4.5 };
  const taxed = period({ store: 'web', store_original_transaction_id: 'taxed', price });
  await setTransaction(service, 'emma', taxed);
  await setStore(service.database, service.appId, { store: 'web', commission: '0.2' });
  expect(await setTransaction(service, 'finn', taxed)).toMatchObject({ status: 200 });
  expect((await readProfile(service, { customer: 'finn' })).json.data).toMatchObject({ total_revenue_usd: 5 });
});

test('a chain that moves back and forth between many profiles concurrently ends with one of them', async () => {
  const customers = Array.from({ length: 6 }, (_, index) => `many-${index}`);
  for (const customer of customers) await createProfile(service, { customer });
  const chain = { store_original_transaction_id: 'wanderer', store_transaction_id: 'w1' };
  const responses = await Promise.all(
    Array.from({ length: 24 }, (_, index) => setTransaction(service, customers[index % 6] ?? '', period(chain))),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  const shown = await Promise.all(customers.map((customer) => readProfile(service, { customer })));
  expect(shown.filter(({ json }) => json.data.subscriptions !== null)).toHaveLength(1);
  expect(shown.filter(({ json }) => json.data.total_revenue_usd === 10)).toHaveLength(1);
});
