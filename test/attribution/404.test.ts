// Attributions for a profile that is not found (interface 7, decisions.md 3): 404, source null, and nothing is written.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { countLabels, post, readRecord } from './world.ts';

let service: TestService;
let annaId: string;
let bertId: string;
beforeAll(async () => {
  service = await startService();
  annaId = await addProfile(service, 'anna');
  bertId = await addProfile(service, 'bert');
});
afterAll(() => service.close());

async function expectNotFound(naming: Record<string, unknown>): Promise<void> {
  const response = await post(service, { status: 'organic', ...naming });
  expect(response.json).toEqual({
    errors: [{ source: null, errors: [expect.stringContaining('not found')] }],
    error_code: 'profile_does_not_exist',
    status_code: 404,
  });
  expect(response.status).toBe(404);
}

test('an identifier that matches nothing is a 404', async () => {
  await expectNotFound({ customer_user_id: 'nobody' });
  await expectNotFound({ profile_id: randomUUID() });
});

test('customer_user_id is compared exactly', async () => {
  for (const id of ['Anna', 'anna ', ' anna', 'ann', 'аnna']) await expectNotFound({ customer_user_id: id });
});

test('a profile_id that is not a UUID matches nothing', async () => {
  const malformed = [
    'anna',
    '42',
    `${annaId}0`,
    annaId.replaceAll('-', ''),
    `{${annaId}}`,
    `${annaId} `,
    'x'.repeat(5000),
  ];
  for (const profile_id of malformed) await expectNotFound({ profile_id });
});

test('two identifiers that do not name the same profile are a 404', async () => {
  await expectNotFound({ customer_user_id: 'anna', profile_id: bertId });
  await expectNotFound({ customer_user_id: 'anna', profile_id: randomUUID() });
  await expectNotFound({ customer_user_id: 'nobody', profile_id: annaId });
  await expectNotFound({ customer_user_id: 'anna', profile_id: 'malformed' });
});

test('a profile that was never identified is not found by any customer_user_id', async () => {
  const profile_id = await addProfile(service, null);
  await expectNotFound({ customer_user_id: 'anna', profile_id });
});

test('a profile of another app is a 404', async () => {
  const { app } = await createApp(service.deps, { name: 'Other' });
  const other = await addProfile({ ...service, appId: app.app_id }, 'carl');
  await expectNotFound({ customer_user_id: 'carl' });
  await expectNotFound({ profile_id: other });
});

test('a deleted profile is a 404', async () => {
  const profileId = await addProfile(service, null);
  const { db } = service.database;
  await db
    .updateTable('profile')
    .set({ deleted_at: '2025-01-02T00:00:00Z' })
    .where('profile_id', '=', profileId)
    .execute();
  const labels = await countLabels(service);
  await expectNotFound({ profile_id: profileId, campaign: 'of nobody' });
  expect(await countLabels(service)).toBe(labels);
});

test('a 404 writes nothing, not even the labels that charts would show', async () => {
  const labels = await countLabels(service);
  await expectNotFound({ customer_user_id: 'nobody', campaign: 'spam' });
  await expectNotFound({ customer_user_id: 'anna', profile_id: bertId, campaign: 'of either' });
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => expectNotFound({ profile_id: randomUUID(), campaign: `${i}` })),
  );
  expect(await countLabels(service)).toBe(labels);
  expect(await readRecord(service, annaId)).toBeUndefined();
});

test('two identifiers that do not name the same profile are a 404 even if the label is known, so that no lookup comes first', async () => {
  await addProfile(service, 'known');
  const body = { status: 'organic', campaign: 'known' };
  expect((await post(service, { ...body, customer_user_id: 'known' })).status).toBe(201);
  expect((await post(service, { ...body, customer_user_id: 'anna', profile_id: bertId })).status).toBe(404);
});
