// Grants to a profile that is not found (interface 7, decisions.md 3): 404, source null.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { grant } from './world.ts';

let service: TestService;
let annaId: string;
let bertId: string;
beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  annaId = await addProfile(service, 'anna');
  bertId = await addProfile(service, 'bert');
});
afterAll(() => service.close());

async function expectNotFound(headers: Record<string, string>): Promise<void> {
  const response = await grant(service, { access_level_id: 'premium' }, headers);
  expect(response.json).toEqual({
    errors: [{ source: null, errors: [expect.stringContaining('not found')] }],
    error_code: 'profile_does_not_exist',
    status_code: 404,
  });
  expect(response.status).toBe(404);
  expect(response.headers['cache-control']).toBe('no-store');
}

test('an identifier that matches nothing is a 404', async () => {
  await expectNotFound({ 'service-customer-user-id': 'nobody' });
  await expectNotFound({ 'service-customer-user-id': 'Anna' });
  await expectNotFound({ 'service-profile-id': randomUUID() });
});

test('a profile id that is not a UUID matches nothing', async () => {
  for (const id of ['anna', '42', `${annaId}0`, annaId.replaceAll('-', ''), 'x'.repeat(5000)]) {
    await expectNotFound({ 'service-profile-id': id });
  }
});

test('two headers that do not name the same profile are a 404', async () => {
  await expectNotFound({ 'service-customer-user-id': 'anna', 'service-profile-id': bertId });
  await expectNotFound({ 'service-customer-user-id': 'nobody', 'service-profile-id': annaId });
  await expectNotFound({ 'service-customer-user-id': 'anna', 'service-profile-id': 'malformed' });
});

test('a profile of another app is a 404', async () => {
  const { app } = await createApp(service.deps, { name: 'Other' });
  const other = await addProfile({ ...service, appId: app.app_id }, 'carl');
  await expectNotFound({ 'service-customer-user-id': 'carl' });
  await expectNotFound({ 'service-profile-id': other });
});

test('a deleted profile is a 404', async () => {
  const profileId = await addProfile(service, null);
  const { db } = service.database;
  await db
    .updateTable('profile')
    .set({ deleted_at: '2025-01-02T00:00:00Z' })
    .where('profile_id', '=', profileId)
    .execute();
  await expectNotFound({ 'service-profile-id': profileId });
});
