// Lapses are reported when their time has come, each once, and only for transactions set by requests.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { reportDueProfiles } from '../../src/purchases/due-loop.ts';
import { listDueProfiles } from '../../src/purchases/lapse-watch.ts';
import { grant, revoke } from '../grants/world.ts';
import { createProfile, deleteProfile } from '../profile/world.ts';
import { holdProfile } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct, addPurchase } from '../setup/world.ts';
import { addEndpoint, inDays, listEvents, pass as passTime, period, setTransaction, trial } from './world.ts';

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

const ids = (id = '1') => ({
  store_transaction_id: `${customer}-${id}`,
  store_original_transaction_id: `${customer}-c`,
});
const set = async (body: unknown) => {
  expect(await setTransaction(service, customer, body)).toMatchObject({ status: 200 });
};
const pass = (days: number, ids = [profileId]) => passTime(service, days, ids);
/** Skips the wait of lapses that were past when they were set, which leaves time for a continuation of the chain. */
const skipGraceWait = () =>
  sql`update lapse_watch set check_at = check_at - interval '3 seconds'
    where profile_id = ${profileId}`.execute(service.database.db);
const sweep = () => reportDueProfiles(service.deps);

/** Returns the events about lapses and access since the last transaction. */
async function reported() {
  const events = await listEvents(service, profileId);
  return events.slice(events.findLastIndex(({ event_type }) => /started|renewed|converted/.test(event_type)) + 1);
}
const types = async () => (await reported()).map(({ event_type }) => event_type);

test('a subscription is reported when it lapses, not before, once, with the access that ended', async () => {
  const expires_at = inDays(10);
  await set(period({ ...ids(), expires_at }));
  await sweep();
  expect(await types()).toEqual(['access_level_updated']);
  await pass(10.001);
  await sweep();
  await sweep();
  const [, expired, access, ...others] = await reported();
  expect(others).toEqual([]);
  const ended = new Date(Date.parse(expires_at) - 10.001 * 86_400_000).toISOString();
  expect(expired?.payload).toMatchObject({
    event_type: 'subscription_expired',
    event_datetime: ended.replace('Z', '000+0000'),
    event_properties: { transaction_id: `${customer}-1`, profile_has_access_level: false },
  });
  expect(access?.payload).toMatchObject({
    event_type: 'access_level_updated',
    event_properties: { access_level_id: 'premium', is_active: false },
  });
});

test('busy profiles do not delay others', async () => {
  await set(period({ ...ids(), expires_at: inDays(1) }));
  const [busy, id] = [customer, profileId];
  customer = `customer-${++count}`;
  profileId = (await createProfile(service, { customer })).json.data.profile_id;
  await set(period({ ...ids(), expires_at: inDays(2) }));
  await pass(3, [id, profileId]);
  const due = async () => (await listDueProfiles(service.database.db, 1)).map((one) => one.profile_id);
  const release = await holdProfile(service, busy);
  expect(await due()).toEqual([profileId]);
  await release();
  expect(await due()).toEqual([id]);
});

test('a period that had lapsed when it was set is reported soon after, without the access, which was reported then', async () => {
  await set(period(ids()));
  await sweep();
  expect(await types()).toEqual(['access_level_updated']);
  await skipGraceWait();
  await sweep();
  expect(await types()).toEqual(['access_level_updated', 'subscription_expired']);
});

test('a history that is sent in order reports no lapse but the last', async () => {
  await set(trial(ids()));
  await set(period(ids('2')));
  await set(period({ ...ids('3'), purchased_at: '2025-03-01T00:00:00Z', expires_at: '2025-04-01T00:00:00Z' }));
  await skipGraceWait();
  await sweep();
  const all = (await listEvents(service, profileId)).map(({ event_type }) => event_type);
  expect(all.filter((type) => type !== 'access_level_updated')).toEqual([
    'trial_started',
    'trial_converted',
    'subscription_renewed',
    'subscription_expired',
  ]);
});

test('the lapse of a trial is reported as that of a trial', async () => {
  await set(trial({ ...ids(), expires_at: '2025-02-01T00:00:00Z' }));
  await skipGraceWait();
  await sweep();
  expect((await types()).filter((type) => type.endsWith('expired'))).toEqual(['trial_expired']);
});

test('a period that was renewed in time does not lapse, but the next one does', async () => {
  const end = inDays(5);
  await set(period({ ...ids(), expires_at: end }));
  await set(period({ ...ids('2'), purchased_at: end, expires_at: inDays(35) }));
  expect(await types()).toEqual([]);
  await pass(6);
  await sweep();
  expect(await types()).toEqual(['access_level_updated']);
  expect((await reported())[0]?.payload.event_properties).toMatchObject({
    is_active: true,
    transaction_id: `${customer}-2`,
  });
  await pass(30);
  await sweep();
  expect((await types()).slice(1)).toEqual(['subscription_expired', 'access_level_updated']);
});

test('if two ends of a chain are due at the same time, both are reported', async () => {
  const gold = { store_product_id: 'gold monthly', purchased_at: inDays(-1), expires_at: inDays(35) };
  await set(period({ ...ids(), expires_at: inDays(5) }));
  await set(period({ ...ids('2'), ...gold }));
  const before = await reported();
  await pass(40);
  await sweep();
  const properties = (await reported()).slice(before.length).map(({ payload }) => payload.event_properties);
  const ends = properties.filter(({ is_active }) => is_active === false);
  expect(ends.map(({ access_level_id }) => access_level_id).sort()).toEqual(['gold', 'premium']);
});

test('of a chain that came back after a lapse, only the next lapse is reported', async () => {
  await set(period({ ...ids(), expires_at: inDays(1) }));
  await pass(2);
  await sweep();
  await set(period({ ...ids('2'), purchased_at: inDays(0), expires_at: inDays(30) }));
  await pass(31);
  await sweep();
  const lapses = (await reported()).filter(({ event_type }) => event_type === 'subscription_expired');
  expect(lapses.map(({ payload }) => payload.event_properties.transaction_id)).toEqual([`${customer}-2`]);
});

test('a grace period postpones the lapse to its end', async () => {
  const issue = { billing_issue_detected_at: inDays(1), grace_period_expires_at: inDays(8) };
  await set(period({ ...ids(), expires_at: inDays(1), ...issue }));
  const known = (await types()).length;
  await pass(2);
  await sweep();
  const [grace, ...others] = (await reported()).slice(known);
  expect(others).toEqual([]);
  expect(grace?.payload).toMatchObject({
    event_type: 'access_level_updated',
    event_properties: { is_active: true, is_in_grace_period: true },
  });
  await pass(7);
  await sweep();
  expect((await types()).slice(known + 1)).toEqual(['subscription_expired', 'access_level_updated']);
});

test('what was not reported in time is reported with the dates at which access changed', async () => {
  const issue = { billing_issue_detected_at: inDays(1), grace_period_expires_at: inDays(3) };
  await set(period({ ...ids(), expires_at: inDays(1), ...issue }));
  const other = { store_transaction_id: customer, store_original_transaction_id: customer };
  const refund = { refunded_at: inDays(1.5), cancellation_reason: 'refund' };
  await set(period({ ...other, store_product_id: 'gold monthly', expires_at: inDays(2), ...refund }));
  const known = (await listEvents(service, profileId)).length;
  await pass(10);
  await sweep();
  const { rows: ends } = await sql<{ grace_end: string; refunded_at: string }>`
    select max(grace_period_expires_at)::text as grace_end, max(refunded_at)::text as refunded_at
    from purchase where profile_id = ${profileId}`.execute(service.database.db);
  const news = (await listEvents(service, profileId)).slice(known).map(({ payload }) => ({
    level: payload.event_properties.access_level_id,
    at: Date.parse(payload.event_datetime),
    isActive: payload.event_properties.is_active,
  }));
  const [graceEnd, refundedAt] = [ends[0]!.grace_end, ends[0]!.refunded_at].map(Date.parse);
  expect(news.filter(({ level }) => level)).toEqual([
    { level: 'gold', at: refundedAt, isActive: false },
    { level: 'premium', at: graceEnd, isActive: false },
  ]);
});

test('a grant that has ended by its date or was revoked since a lapse is not reported with it', async () => {
  await set(period({ ...ids(), expires_at: inDays(1) }));
  await pass(1);
  const named = { 'service-customer-user-id': customer };
  const soonOver = new Date(Date.now() + 300).toISOString();
  expect(await grant(service, { access_level_id: 'gold', expires_at: soonOver }, named)).toMatchObject({ status: 200 });
  await addAccessLevel(service, `silver-${customer}`);
  const silver = { access_level_id: `silver-${customer}` };
  expect(await grant(service, silver, named)).toMatchObject({ status: 200 });
  expect(await revoke(service, silver, named)).toMatchObject({ status: 200 });
  const known = (await listEvents(service, profileId)).length;
  await delay(400);
  await sweep();
  const news = (await listEvents(service, profileId)).slice(known).map(({ event_type, payload }) => {
    return [event_type, payload.event_properties.access_level_id];
  });
  expect(news).toEqual([
    ['subscription_expired', undefined],
    ['access_level_updated', 'premium'],
  ]);
});

test('the end of a grant is not reported with the lapse of a subscription that it outlasted', async () => {
  const named = { 'service-customer-user-id': customer };
  const soonOver = new Date(Date.now() + 1_000).toISOString();
  await set(period({ ...ids(), expires_at: inDays(1) }));
  await pass(1);
  const premium = { access_level_id: 'premium', expires_at: soonOver };
  expect(await grant(service, premium, named)).toMatchObject({ status: 200 });
  await delay(Math.max(0, Date.parse(soonOver) + 50 - Date.now()));
  const known = (await listEvents(service, profileId)).length;
  await sweep();
  const news = (await listEvents(service, profileId)).slice(known);
  expect(news.map(({ event_type }) => event_type)).toEqual(['subscription_expired']);
});

test('a refund that is set ahead is reported when it comes, not at the end of the period', async () => {
  const refund = { refunded_at: inDays(5), cancellation_reason: 'refund' };
  await set(period({ ...ids(), expires_at: inDays(10), ...refund }));
  await sweep();
  const known = ['subscription_refunded', 'access_level_updated'];
  expect(await types()).toEqual(known);
  await pass(6);
  await sweep();
  expect(await types()).toEqual([...known, 'subscription_expired', 'access_level_updated']);
});

test('a refund makes a subscription lapse at the moment of the refund', async () => {
  const refund = { refunded_at: '2025-02-05T00:00:00Z', cancellation_reason: 'refund' };
  await set(period({ ...ids(), expires_at: inDays(10), ...refund }));
  await skipGraceWait();
  await sweep();
  const expired = (await reported()).find(({ event_type }) => event_type === 'subscription_expired');
  expect(expired?.payload.event_datetime).toBe('2025-02-05T00:00:00.000000+0000');
});

test('a lapse that was reported is not reported again, whatever else changes in its period', async () => {
  await set(period(ids()));
  await skipGraceWait();
  await sweep();
  expect(await types()).toContain('subscription_expired');
  const known = (await listEvents(service, profileId)).length;
  await set(period({ ...ids(), paywall_id: 'pw' }));
  await set(period({ ...ids(), paywall_id: 'pw', expires_at: '2025-02-20T00:00:00Z' }));
  await sweep();
  const later = (await listEvents(service, profileId)).slice(known);
  expect(later.map(({ event_type }) => event_type)).toEqual(['access_level_updated']);
  await set(period({ ...ids(), expires_at: inDays(3) }));
  await pass(4);
  await sweep();
  const extended = (await listEvents(service, profileId)).slice(known + 1);
  expect(extended.map(({ event_type }) => event_type)).toEqual([
    'access_level_updated',
    'subscription_expired',
    'access_level_updated',
  ]);
});

test('imported history reports nothing, even if a request continues its chain', async () => {
  await addPurchase(service, profileId, { ...ids('0'), purchased_at: '2025-01-01T00:00:00Z' });
  await service.database.db
    .insertInto('purchase_chain')
    .values({
      app_id: service.appId,
      profile_id: profileId,
      store: 'app_store',
      store_original_transaction_id: `${customer}-c`,
    })
    .execute();
  await sweep();
  expect(await types()).toEqual([]);
  await set(period({ ...ids(), purchased_at: '2025-06-01T00:00:00Z', expires_at: inDays(1) }));
  await skipGraceWait();
  await sweep();
  expect(await types()).toEqual(['access_level_updated']);
});

test('an imported period is watched once a request has touched it', async () => {
  await set(period(ids('0')));
  await skipGraceWait();
  await sweep();
  const imported = { purchased_at: '2025-03-01T00:00:00Z', expires_at: inDays(5) };
  const store_transaction_id = await addPurchase(service, profileId, { ...ids(), ...imported });
  await sweep();
  await set(period({ ...ids(), ...imported, store_transaction_id, renew_status: false }));
  const known = (await listEvents(service, profileId)).length;
  await pass(6);
  await sweep();
  const later = (await listEvents(service, profileId)).slice(known).map(({ event_type }) => event_type);
  expect(later).toEqual(['subscription_expired', 'access_level_updated']);
});

test('if a period of another product follows, both the access that ends and the access that begins are reported', async () => {
  const end = inDays(5);
  await set(period({ ...ids(), expires_at: end }));
  const gold = { store_product_id: 'gold monthly', purchased_at: end, expires_at: inDays(35) };
  await set(period({ ...ids('2'), ...gold }));
  const known = (await listEvents(service, profileId)).length;
  await pass(6);
  await sweep();
  const later = (await listEvents(service, profileId)).slice(known).map(({ payload }) => payload.event_properties);
  expect(later).toMatchObject([
    { access_level_id: 'gold', is_active: true },
    { access_level_id: 'premium', is_active: false },
  ]);
});

test('a chain that an import continued is watched at its new end', async () => {
  const end = inDays(5);
  await set(period({ ...ids(), expires_at: end }));
  await addPurchase(service, profileId, { ...ids('2'), purchased_at: end, expires_at: inDays(35) });
  await pass(6);
  await sweep();
  expect(await types()).toEqual(['access_level_updated', 'access_level_updated']);
  await pass(30);
  await sweep();
  expect(await types()).toContain('subscription_expired');
});

test('no lapse is reported for a deleted profile', async () => {
  await set(period({ ...ids(), expires_at: inDays(1) }));
  await pass(2);
  await deleteProfile(service, { customer });
  await sweep();
  expect((await listEvents(service, profileId)).map(({ event_type }) => event_type)).not.toContain(
    'subscription_expired',
  );
});

test('several concurrent processes report each lapse of many profiles once', async () => {
  const many = Array.from({ length: 30 }, (_, index) => `${customer}-many-${index}`);
  const manyIds: string[] = [];
  for (const one of many) {
    manyIds.push((await createProfile(service, { customer: one })).json.data.profile_id);
    const own = { store_transaction_id: one, store_original_transaction_id: one };
    await setTransaction(service, one, period({ ...own, expires_at: inDays(1) }));
  }
  await pass(2, manyIds);
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 4 }, sweep));
  const expired = (await listEvents(service)).filter(
    ({ event_type, customer_user_id }) =>
      event_type === 'subscription_expired' && customer_user_id?.startsWith(`${customer}-many-`),
  );
  expect(expired).toHaveLength(30);
  expect(new Set(expired.map(({ customer_user_id }) => customer_user_id)).size).toBe(30);
  const isDue = sql<boolean>`check_at <= now()`;
  expect(await service.database.db.selectFrom('lapse_watch').selectAll().where(isDue).execute()).toEqual([]);
});

/** Has the subscriptions of the customer and of another one lapse. Returns the profile id of the other. */
async function lapseWithAnother(): Promise<string> {
  const expires_at = inDays(1);
  await set(period({ ...ids(), expires_at }));
  const other = `${customer}-other`;
  const otherId = (await createProfile(service, { customer: other })).json.data.profile_id;
  const own = { store_transaction_id: other, store_original_transaction_id: other };
  await setTransaction(service, other, period({ ...own, expires_at }));
  await pass(2, [profileId, otherId]);
  return otherId;
}

test('a sweep that is told to stop reports no further profile, and the next one goes on', async () => {
  const otherId = await lapseWithAnother();
  const countExpired = async () => {
    const events = [...(await listEvents(service, profileId)), ...(await listEvents(service, otherId))];
    return events.filter(({ event_type }) => event_type === 'subscription_expired').length;
  };
  let begun = 0;
  await reportDueProfiles(service.deps, () => begun++ === 1);
  expect(await countExpired()).toBe(1);
  await sweep();
  expect(await countExpired()).toBe(2);
});

test('a profile whose lapse cannot be reported is tried again later, and does not delay others', async () => {
  const otherId = await lapseWithAnother();
  const { db } = service.database;
  await sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`.execute(
    db,
  );
  await sql`create trigger refuse before insert on webhook_event for each row
    when (new.profile_id = ${sql.lit(profileId)}) execute function refuse()`.execute(db);
  await sweep();
  const others = (await listEvents(service, otherId)).map(({ event_type }) => event_type);
  expect(others).toContain('subscription_expired');
  expect(await types()).not.toContain('subscription_expired');
  await sql`drop trigger refuse on webhook_event`.execute(db);
  await sweep();
  expect(await types()).not.toContain('subscription_expired');
  await pass(61 / 86_400);
  await sweep();
  expect((await types()).slice(1)).toEqual(['subscription_expired', 'access_level_updated']);
});
