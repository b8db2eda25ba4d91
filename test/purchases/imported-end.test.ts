// A subscription that a request set, and whose end an import then changes: the end is reported when it comes.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { reportDueProfiles } from '../../src/purchases/due-loop.ts';
import { importTransactions } from '../analytics/import.ts';
import { createProfile } from '../profile/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { addEndpoint, inDays, listEvents, pass, period, setTransaction } from './world.ts';

let service: TestService;
let customer: string;
let profileId: string;
let count = 0;
beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  await addAccessLevel(service, 'gold');
  await addProduct(service, 'gold monthly', { access_level_id: 'gold' });
  await addEndpoint(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  customer = `customer-${++count}`;
  profileId = (await createProfile(service, { customer })).json.data.profile_id;
});

/** A period that began yesterday and is to end in ten days, unless the members say otherwise. */
function current(members: Record<string, unknown> = {}) {
  const ids = { store_transaction_id: `${customer}-1`, store_original_transaction_id: `${customer}-c` };
  return period({
    ...ids,
    purchased_at: inDays(-1),
    originally_purchased_at: inDays(-10),
    expires_at: inDays(10),
    ...members,
  });
}

/** Sets the period over HTTP, changed by `given`, then imports it with the other `members`. */
async function setAndImport(members: Record<string, unknown>, given: Record<string, unknown> = {}): Promise<void> {
  const transaction = current(given);
  expect(await setTransaction(service, customer, transaction)).toMatchObject({ status: 200 });
  const record = { ...transaction, customer_user_id: customer, ...members };
  await importTransactions(service, [record]);
}

/** Returns the events after the first two. */
async function reportedLater() {
  await reportDueProfiles(service.deps);
  return (await listEvents(service, profileId)).slice(2).map(({ event_type, payload }) => {
    return [event_type, payload.event_properties.is_active];
  });
}
const END = [
  ['subscription_expired', undefined],
  ['access_level_updated', false],
];

test('an end that an import brought forward is reported when it comes', async () => {
  await setAndImport({ expires_at: inDays(5) });
  expect(await reportedLater()).toEqual([]);
  await pass(service, 6, [profileId]);
  expect(await reportedLater()).toEqual(END);
  await pass(service, 6, [profileId]);
  expect(await reportedLater()).toEqual(END);
});

test('an end that is past when it is imported is reported immediately', async () => {
  await setAndImport({ refunded_at: inDays(-0.5), cancellation_reason: 'refund' });
  expect(await reportedLater()).toEqual(END);
});

test('of an end and an earlier refund that one import brings, the refund is reported when it comes', async () => {
  await setAndImport({ expires_at: inDays(8), refunded_at: inDays(3), cancellation_reason: 'refund' });
  expect(await reportedLater()).toEqual([]);
  await pass(service, 4, [profileId]);
  expect(await reportedLater()).toEqual(END);
});

test('an end that an import put off is reported when it comes', async () => {
  await setAndImport({ expires_at: inDays(20) });
  await pass(service, 11, [profileId]);
  expect(await reportedLater()).toEqual([]);
  await pass(service, 10, [profileId]);
  expect(await reportedLater()).toEqual(END);
});

test('a grace period that begins before the end that an import set is reported, too', async () => {
  await setAndImport({ billing_issue_detected_at: inDays(-0.5), grace_period_expires_at: inDays(20) });
  await pass(service, 11, [profileId]);
  expect(await reportedLater()).toEqual([['access_level_updated', true]]);
});

test('an imported end is not mistaken for the start, which the import moves with it', async () => {
  await setAndImport({ purchased_at: inDays(-0.9), refunded_at: inDays(-0.5), cancellation_reason: 'refund' });
  expect(await reportedLater()).toEqual(END);
});

test('an import that changes only the start reports nothing', async () => {
  await setAndImport({ purchased_at: inDays(-2) });
  expect(await reportedLater()).toEqual([]);
});

test('an import that changes only the end of a period in its grace period adds no report before the end of the grace', async () => {
  const grace = { billing_issue_detected_at: inDays(-1), grace_period_expires_at: inDays(3) };
  await setAndImport({ expires_at: inDays(-0.6) }, { purchased_at: inDays(-9), expires_at: inDays(-0.5), ...grace });
  const reported = [
    ['entered_grace_period', undefined],
    ['access_level_updated', true],
  ];
  expect(await reportedLater()).toEqual(reported);
  await pass(service, 4, [profileId]);
  expect(await reportedLater()).toEqual([...reported, ...END]);
});

test('an imported end reports nothing about another level, even if that began since', async () => {
  const gold = { store_transaction_id: `${customer}-g`, store_original_transaction_id: `${customer}-g` };
  const premium = current({ purchased_at: inDays(-3) });
  expect(await setTransaction(service, customer, premium)).toMatchObject({ status: 200 });
  const since = current({ ...gold, store_product_id: 'gold monthly', purchased_at: inDays(-0.2) });
  expect(await setTransaction(service, customer, since)).toMatchObject({ status: 200 });
  const { length } = await listEvents(service, profileId);
  const refund = { refunded_at: inDays(-0.5), cancellation_reason: 'refund' };
  await importTransactions(service, [{ ...premium, customer_user_id: customer, ...refund }]);
  await reportDueProfiles(service.deps);
  const later = (await listEvents(service, profileId)).slice(length).map(({ event_type, payload }) => {
    return [event_type, payload.event_properties.access_level_id];
  });
  expect(later).toEqual([
    ['subscription_expired', undefined],
    ['access_level_updated', 'premium'],
  ]);
});

test.each(['2025-01-09T12:00:00Z', '0001-01-01T00:00:00Z'])(
  'an imported end at the start itself, %s, is reported immediately',
  async (beginning) => {
    const refund = { refunded_at: beginning, cancellation_reason: 'refund' };
    await setAndImport(refund, { purchased_at: beginning, originally_purchased_at: beginning });
    expect(await reportedLater()).toEqual(END);
  },
);
