// What time alone has changed in a profile is reported before what a request changes, even if no sweep has run yet.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { reportDueProfiles } from '../../src/purchases/due-loop.ts';
import { createProfile } from '../profile/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { addEndpoint, inDays, listEvents, oneTime, pass, period, setTransaction } from './world.ts';

let service: TestService;
let customer: string;
let profileId: string;
let count = 0;
beforeAll(async () => {
  service = await startService({ app: { name: 'Sharing', sharing: 'transfer' } });
  await addAccessLevel(service, 'premium');
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  await addEndpoint(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  customer = `customer-${++count}`;
  profileId = (await createProfile(service, { customer })).json.data.profile_id;
});

const ids = (id = '1') => ({
  store_transaction_id: `${customer}-${id}`,
  store_original_transaction_id: `${customer}-c`,
});
const set = async (body: unknown, name = customer) => {
  expect(await setTransaction(service, name, body)).toMatchObject({ status: 200 });
};

/** Returns a function that lists the events from now on; of those about access, whether it is active. */
async function listenFromNow(id = profileId) {
  const known = (await listEvents(service, id)).length;
  return async () =>
    (await listEvents(service, id))
      .slice(known)
      .map(({ event_type, payload }) =>
        event_type === 'access_level_updated' ? ['access', payload.event_properties.is_active] : event_type,
      );
}

/** Sets a subscription that ended a day ago without a report of its lapse. Returns its members. */
async function lapsed() {
  const over = { ...ids(), expires_at: inDays(-1) };
  const [from, until] = [new Date('2025-02-03').toISOString(), new Date(Date.parse(over.expires_at) + 2 * 86_400_000)];
  const dates = { purchased_at: from, originally_purchased_at: from, expires_at: until.toISOString() };
  await set(period({ ...over, ...dates }));
  await pass(service, 2, [profileId]);
  return over;
}

test('a lapse is reported before a late renewal', async () => {
  await lapsed();
  const reported = await listenFromNow();
  await set(period({ ...ids('2'), purchased_at: inDays(-0.5), expires_at: inDays(30) }));
  const all = ['subscription_expired', ['access', false], 'subscription_renewed', ['access', true]];
  expect(await reported()).toEqual(all);
  await reportDueProfiles(service.deps);
  expect(await reported()).toEqual(all);
});

test('a period that is set again after its end still reports its lapse and the end of its access', async () => {
  const over = await lapsed();
  const reported = await listenFromNow();
  await set(period({ ...over, paywall_id: 'pw' }));
  await reportDueProfiles(service.deps);
  expect(await reported()).toEqual(['subscription_expired', ['access', false]]);
});

test('a lapse is reported before a transaction of another chain', async () => {
  await lapsed();
  const reported = await listenFromNow();
  const own = { store_transaction_id: customer, store_original_transaction_id: customer };
  await set(oneTime({ ...own, purchased_at: inDays(-3) }));
  await reportDueProfiles(service.deps);
  expect(await reported()).toEqual(['subscription_expired', ['access', false], 'non_subscription_purchase']);
});

test('a chain that moves to another profile leaves its lapse with the profile that had it', async () => {
  const over = await lapsed();
  const heir = `${customer}-heir`;
  const heirId = (await createProfile(service, { customer: heir })).json.data.profile_id;
  const [reported, reportedToHeir] = await Promise.all([listenFromNow(), listenFromNow(heirId)]);
  await set(period({ ...over, paywall_id: 'pw' }), heir);
  await reportDueProfiles(service.deps);
  expect(await reported()).toEqual(['subscription_expired', ['access', false], ['access', false]]);
  expect(await reportedToHeir()).toEqual([['access', false]]);
});

test('a lapse that is about to be reported moves with its chain', async () => {
  await set(period(ids()));
  const heir = `${customer}-heir`;
  const heirId = (await createProfile(service, { customer: heir })).json.data.profile_id;
  const reportedToHeir = await listenFromNow(heirId);
  await set(period(ids()), heir);
  await pass(service, 1, [profileId, heirId]);
  await reportDueProfiles(service.deps);
  expect(await reportedToHeir()).toEqual([['access', false], 'subscription_expired']);
});
