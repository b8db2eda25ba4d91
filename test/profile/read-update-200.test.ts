// Reading and updating profiles.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importProfiles } from '../analytics/import.ts';
import { holdProfile, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { createProfile, PROFILE, readProfile, storedProfile, updateProfile } from './world.ts';

let service: TestService;
let anna: string;
beforeAll(async () => {
  service = await startService();
  const { json } = await createProfile(
    service,
    { customer: 'anna' },
    { country: 'DE', store: 'stripe', installed_at: '2025-01-01T00:00:00Z', custom_attributes: { a: 'x', b: 2 } },
  );
  anna = json.data.profile_id;
});
afterAll(() => service.close());

test('a profile is read by either identifier or both', async () => {
  const named = [
    { customer: 'anna' },
    { profile: anna },
    { profile: anna.toUpperCase() },
    { customer: 'anna', profile: anna },
  ];
  for (const one of named) {
    const response = await readProfile(service, one);
    expect(response).toMatchObject({ status: 200, json: { data: { profile_id: anna, customer_user_id: 'anna' } } });
    expect(response.headers['cache-control']).toBe('no-store');
  }
});

test('HEAD answers as GET does, without a body', async () => {
  const headers = { 'service-customer-user-id': 'anna' };
  expect(await service.call('HEAD', PROFILE, { key: service.secretKey, headers })).toMatchObject({
    status: 200,
    text: '',
  });
});

test('an update changes what it names and keeps the rest', async () => {
  const { json } = await updateProfile(service, { customer: 'anna' }, { custom_attributes: { b: null, c: true } });
  expect(json.data.custom_attributes).toEqual({ a: 'x', c: 1 });
  await updateProfile(service, { profile: anna }, { country: 'fr', store: null });
  expect(await storedProfile(service, anna)).toMatchObject({
    row: { country: 'FR', store: 'stripe', installed_at: '2025-01-01 00:00:00+00', customer_user_id: 'anna' },
    install: { country: 'fr', store: 'stripe' },
  });
  await updateProfile(service, { profile: anna }, { installed_at: '2025-01-02T00:00:00Z' });
  expect((await storedProfile(service, anna)).install).toMatchObject({ installed_day: 20_090 });
  await updateProfile(service, { profile: anna }, { store: 'acme' });
  expect((await storedProfile(service, anna)).install).toMatchObject({ store: 'acme' });
});

test('an empty update changes nothing, not even the segment hash', async () => {
  const before = (await readProfile(service, { customer: 'anna' })).json.data;
  const after = (await updateProfile(service, { customer: 'anna' }, {})).json.data;
  expect({ ...after, timestamp: 0 }).toEqual({ ...before, timestamp: 0 });
  const changed = (await updateProfile(service, { customer: 'anna' }, { custom_attributes: { z: 1 } })).json.data;
  expect(changed.segment_hash).not.toBe(before.segment_hash);
});

test('the segment hash changes with the source of the attribution', async () => {
  const hashes = [];
  for (const source of ['branch', 'appsflyer', 'branch']) {
    await importProfiles(service, [{ customer_user_id: 'anna', attribution: { status: 'organic', source } }]);
    hashes.push((await readProfile(service, { customer: 'anna' })).json.data.segment_hash);
  }
  expect(hashes[1]).not.toBe(hashes[0]);
  expect(hashes[2]).toBe(hashes[0]);
});

test('an app of shape array shows attributes in the form in which it takes them', async () => {
  const other = await startService({ app: { name: 'Array', profile_shape: 'array' } });
  const custom_attributes = [
    { key: 'plan', value: 'gold' },
    { key: 'rating', value: 4.5 },
  ];
  const { json } = await createProfile(other, { customer: 'anna' }, { custom_attributes });
  expect(json.data).toMatchObject({ custom_attributes, access_levels: [], subscriptions: [], non_subscriptions: [] });
  const echoed = await updateProfile(other, { customer: 'anna' }, { custom_attributes: json.data.custom_attributes });
  expect(echoed.json.data.custom_attributes).toEqual(custom_attributes);
  await other.close();
});

test('a read waits for a writer, so that a later state never carries an earlier timestamp', async () => {
  const release = await holdProfile(service, 'anna');
  const reading = readProfile(service, { customer: 'anna' });
  await waitForBlocked(service);
  const releasedAt = Date.now();
  await release();
  expect((await reading).json.data.timestamp).toBeGreaterThanOrEqual(releasedAt - 5);
});
