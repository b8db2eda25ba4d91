// Idempotency-Key on grant, revoke and set transaction: a repeat gets the first response and has no second effect.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pruneKeptResponses } from '../../src/changes/kept-responses.ts';
import { lockChain } from '../../src/purchases/chain.ts';
import { createProfile, readProfile } from '../profile/world.ts';
import { addEndpoint, listEvents, period, SET } from '../purchases/world.ts';
import { holdProfile, waitForBlocked } from '../setup/locks.ts';
import { type ServiceResponse, startService, type TestService } from '../setup/service.ts';
import { addAccessLevel } from '../setup/world.ts';
import { GRANT, REVOKE, utf8 } from './world.ts';

const HOUR_MS = 3_600_000;

let service: TestService;
let offsetMs = 0;
let customer: string;
let profileId: string;
let count = 0;
beforeAll(async () => {
  service = await startService({ now: () => new Date(Date.now() + offsetMs) });
  await addAccessLevel(service, 'premium');
  await addEndpoint(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  offsetMs = 0;
  customer = `customer-${++count}`;
  profileId = (await createProfile(service, { customer })).json.data.profile_id;
});

function send(
  path: string,
  body: unknown,
  key: string,
  headers: Record<string, string> = {},
): Promise<ServiceResponse> {
  return service.call('POST', path, {
    key: service.secretKey,
    headers: { 'service-customer-user-id': customer, 'idempotency-key': key, ...headers },
    body,
  });
}

const grantOnce = (key: string, body: object = {}) => send(GRANT, { access_level_id: 'premium', ...body }, key);
const eventCount = async () => (await listEvents(service, profileId)).length;

/** A transaction of a chain that belongs to the test's own profile. */
const ownPeriod = (members: object = {}) =>
  period({ store_transaction_id: `${customer}-1`, store_original_transaction_id: `${customer}-c`, ...members });

describe.each<[string, string, () => object, () => object]>([
  [
    'grant',
    GRANT,
    () => ({ access_level_id: 'premium' }),
    () => ({ access_level_id: 'premium', expires_at: '2090-01-01T00:00:00Z' }),
  ],
  [
    'revoke',
    REVOKE,
    () => ({ access_level_id: 'premium', revoke_at: '2090-01-01T00:00:00Z' }),
    () => ({ access_level_id: 'premium', revoke_at: '2080-01-01T00:00:00Z' }),
  ],
  ['set transaction', SET, () => ownPeriod(), () => ownPeriod({ renew_status: false })],
])('%s', (_, path, makeBody, makeOther) => {
  test('the same key and body get the first response, byte for byte, and send no second event', async () => {
    await grantOnce('before');
    const first = await send(path, makeBody(), 'key');
    expect(first.status).toBe(200);
    const events = await eventCount();
    await send(path, makeOther(), 'another key');
    const between = await eventCount();
    const again = await send(path, makeBody(), 'key');
    expect(again).toMatchObject({ status: 200, text: first.text });
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(between).toBeGreaterThan(events);
    expect(await eventCount()).toBe(between);
  });

  test('the same key with another body is refused', async () => {
    await grantOnce('before');
    await send(path, makeBody(), 'key');
    expect(await send(path, makeOther(), 'key')).toMatchObject({
      status: 400,
      json: {
        error_code: 'value_error',
        errors: [{ source: 'idempotency-key', errors: [expect.stringMatching(/different body/)] }],
      },
    });
  });

  test('a repeat while the first request is still running: 409 with Retry-After', async () => {
    await grantOnce('before');
    const release = await holdProfile(service, customer);
    const first = send(path, makeBody(), 'key');
    await waitForBlocked(service);
    const second = await send(path, makeBody(), 'key');
    expect(second).toMatchObject({ status: 409, json: { error_code: 'idempotency_in_flight', status_code: 409 } });
    expect(second.headers['retry-after']).toBe('1');
    await release();
    const { status, text } = await first;
    expect(status).toBe(200);
    expect((await send(path, makeBody(), 'key')).text).toBe(text);
  });
});

test('a first request that is still running blocks no other key, operation or profile', async () => {
  await grantOnce('before');
  const other = `${customer}-other`;
  await createProfile(service, { customer: other });
  const release = await holdProfile(service, customer);
  const first = grantOnce('key');
  await waitForBlocked(service);
  const elsewhere = await send(GRANT, { access_level_id: 'premium' }, 'key', { 'service-customer-user-id': other });
  const others = [send(REVOKE, { access_level_id: 'premium' }, 'key'), grantOnce('another key')];
  await waitForBlocked(service, 3);
  await release();
  expect(elsewhere.status).toBe(200);
  for (const one of [first, ...others]) expect((await one).status).toBe(200);
});

test('white space, the order of members and members that are null do not make a different body', async () => {
  const first = await send(GRANT, '{"access_level_id":"premium","expires_at":null}', 'key');
  const again = await send(GRANT, '{ "expires_at": null,\n "access_level_id": "premium" }', 'key');
  expect(again.text).toBe(first.text);
  expect((await send(GRANT, '{"access_level_id":"premium"}', 'key')).text).toBe(first.text);
  expect((await send(GRANT, '{"access_level_id":"premium","expires_at":"2099-01-01T00:00:00Z"}', 'key')).status).toBe(
    400,
  );
});

test('deeply nested members that nobody reads belong to the body too', async () => {
  const nested = (inmost: string) =>
    `{"access_level_id":"premium","ignored":${'{"a":['.repeat(6_000)}${inmost}${']}'.repeat(6_000)}}`;
  const first = await send(GRANT, nested('1'), 'key');
  expect(first.status).toBe(200);
  expect((await send(GRANT, nested('1'), 'key')).text).toBe(first.text);
  for (const other of ['2', '"1"', '1,1', '[1]', '']) {
    expect((await send(GRANT, nested(other), 'key')).status).toBe(400);
  }
});

test('a key applies to its operation and profile, whichever identifier names the profile', async () => {
  const first = await grantOnce('key');
  const revoked = await send(REVOKE, { access_level_id: 'premium' }, 'key');
  expect(revoked.json.data.access_levels.premium.expires_at).not.toBeNull();
  const byId = { 'service-customer-user-id': '', 'service-profile-id': profileId };
  expect((await send(GRANT, { access_level_id: 'premium' }, 'key', byId)).text).toBe(first.text);
  const other = `${customer}-other`;
  await createProfile(service, { customer: other });
  const elsewhere = await send(GRANT, { access_level_id: 'premium' }, 'key', { 'service-customer-user-id': other });
  expect(elsewhere.json.data.customer_user_id).toBe(other);
});

test('if a name goes to another profile while the request waits, the request and its key apply to that profile', async () => {
  const { db } = service.database;
  const trx = await db.startTransaction().execute();
  await lockChain(trx, service.app, { app_id: service.appId, ...ownPeriod() });
  const waiting = send(SET, ownPeriod(), 'key');
  await waitForBlocked(service);
  await createProfile(service, { profile: profileId, customer: `${customer}-renamed` });
  const next = await createProfile(service, { customer });
  await trx.commit().execute();
  const response = await waiting;
  expect(response).toMatchObject({ status: 200, json: { data: { profile_id: next.json.data.profile_id } } });
  expect((await send(SET, ownPeriod(), 'key')).text).toBe(response.text);
  expect((await readProfile(service, { profile: profileId })).json.data.subscriptions).toBeNull();
});

test('only successes are kept: a refused request is tried again', async () => {
  const level = `later-${customer}`;
  expect((await send(GRANT, { access_level_id: level }, 'key')).status).toBe(400);
  await addAccessLevel(service, level);
  expect((await send(GRANT, { access_level_id: level }, 'key')).status).toBe(200);
});

test('after 24 hours the key is free, even before its response is pruned', async () => {
  const first = await grantOnce('key');
  offsetMs = 23.9 * HOUR_MS;
  expect((await grantOnce('key')).text).toBe(first.text);
  offsetMs = 24.1 * HOUR_MS;
  const later = await grantOnce('key', { expires_at: '2090-01-01T00:00:00Z' });
  expect(later.status).toBe(200);
  expect(later.text).not.toBe(first.text);
  expect((await grantOnce('key', { expires_at: '2090-01-01T00:00:00Z' })).text).toBe(later.text);
});

test('old responses are pruned, and young ones stay', async () => {
  await grantOnce('old');
  offsetMs = 12 * HOUR_MS;
  await grantOnce('young');
  const { db } = service.database;
  await pruneKeptResponses(db, new Date(Date.now() + 24.1 * HOUR_MS));
  const rows = await db
    .selectFrom('kept_response')
    .select('idempotency_key')
    .where('profile_id', '=', profileId)
    .execute();
  expect(rows).toEqual([{ idempotency_key: 'young' }]);
});

test('the response is written in the transaction of the operation, so a failure leaves neither', async () => {
  const { db } = service.database;
  await sql`alter table kept_response rename to elsewhere`.execute(db);
  expect((await grantOnce('key')).status).toBe(500);
  await sql`alter table elsewhere rename to kept_response`.execute(db);
  const grants = await db.selectFrom('access_grant').selectAll().where('profile_id', '=', profileId).execute();
  expect(grants).toEqual([]);
  expect(await eventCount()).toBe(0);
  expect((await grantOnce('key')).status).toBe(200);
});

test.each([
  ['', 'an empty key'],
  ['k'.repeat(256), 'one of 256 characters'],
  ['k\u00ff', 'one that is not UTF-8'],
])('a key is refused (%#): %s', async (key) => {
  expect(await grantOnce(key)).toMatchObject({
    status: 400,
    json: { error_code: 'value_error', errors: [{ source: 'idempotency-key' }] },
  });
});

test('a key may have 255 characters of two UTF-16 units each', async () => {
  const key = utf8('💡'.repeat(255));
  const first = await grantOnce(key);
  expect(first.status).toBe(200);
  expect((await grantOnce(key)).text).toBe(first.text);
});

test('a key that begins with a byte order mark is a different key', async () => {
  expect((await grantOnce('key')).status).toBe(200);
  expect((await grantOnce(utf8('\ufeffkey'), { expires_at: '2090-01-01T00:00:00Z' })).status).toBe(200);
});

test('twenty concurrent requests with one key have one effect', async () => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => grantOnce('key')));
  const successes = responses.filter(({ status }) => status === 200);
  expect(responses.every(({ status }) => status === 200 || status === 409)).toBe(true);
  expect(new Set(successes.map(({ text }) => text)).size).toBe(1);
  expect(await eventCount()).toBe(1);
});
