// How the headers of a server-side operation name the profile (interface 4.3, decisions.md 3).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { grant, utf8 } from './world.ts';

let service: TestService;
let annaId: string;
let bertId: string;
beforeAll(async () => {
  service = await startService({ env: { HEADER_ALIASES: 'acme, other' } });
  await addAccessLevel(service, 'premium');
  annaId = await addProfile(service, 'anna');
  bertId = await addProfile(service, 'bert');
});
afterAll(() => service.close());

const body = { access_level_id: 'premium' };

async function expectGrantedTo(profileId: string, headers: Record<string, string>): Promise<void> {
  const response = await grant(service, body, headers);
  expect([response.status, response.json?.data?.profile_id]).toEqual([200, profileId]);
}

test('a profile is named by customer user id, by profile id in upper or lower case, or by both', async () => {
  await expectGrantedTo(annaId, { 'service-customer-user-id': 'anna' });
  await expectGrantedTo(annaId, { 'service-profile-id': annaId });
  await expectGrantedTo(annaId, { 'Service-Profile-ID': annaId.toUpperCase() });
  await expectGrantedTo(annaId, { 'service-customer-user-id': 'anna', 'service-profile-id': annaId });
});

test('a blank header counts as absent', async () => {
  await expectGrantedTo(annaId, { 'service-customer-user-id': '', 'service-profile-id': annaId });
  await expectGrantedTo(annaId, { 'service-customer-user-id': 'anna', 'service-profile-id': '  ' });
});

test('a customer user id is read as UTF-8, with up to 255 code points', async () => {
  for (const id of ['Zoë', '李小龙', '💡'.repeat(255), '\u00a0', 'é', '\ufeffanna']) {
    const profileId = await addProfile(service, id);
    await expectGrantedTo(profileId, { 'service-customer-user-id': utf8(id) });
  }
});

test('headers of the configured aliases mean the same; the service- header wins if both are sent', async () => {
  await expectGrantedTo(annaId, { 'acme-customer-user-id': 'anna' });
  await expectGrantedTo(annaId, { 'other-profile-id': annaId });
  await expectGrantedTo(annaId, { 'acme-customer-user-id': 'anna', 'other-profile-id': annaId });
  await expectGrantedTo(annaId, { 'acme-customer-user-id': 'bert', 'service-customer-user-id': 'anna' });
  await expectGrantedTo(bertId, { 'acme-profile-id': annaId, 'service-profile-id': bertId });
  await expectGrantedTo(annaId, { 'acme-customer-user-id': 'anna', 'service-customer-user-id': '' });
});

test('faults in both headers are reported together', async () => {
  const headers = { 'service-customer-user-id': 'x'.repeat(256), 'service-profile-id': '\xff' };
  expect((await grant(service, body, headers)).json).toMatchObject({
    error_code: 'value_error',
    errors: [
      { source: 'service-customer-user-id', errors: [expect.stringMatching(/255/)] },
      { source: 'service-profile-id', errors: [expect.stringMatching(/UTF-8/)] },
    ],
  });
});

test('a fault in an alias is reported under the alias', async () => {
  const response = await grant(service, body, { 'acme-customer-user-id': 'x'.repeat(256) });
  expect(response).toMatchObject({
    status: 400,
    json: { error_code: 'value_error', errors: [{ source: 'acme-customer-user-id' }] },
  });
});

test('a header of an alias that is not configured is ignored', async () => {
  const plain = await startService();
  try {
    await addProfile(plain, 'anna');
    const response = await grant(plain, body, { 'acme-customer-user-id': 'anna' });
    expect(response).toMatchObject({ status: 400, json: { error_code: 'profile_does_not_exist' } });
  } finally {
    await plain.close();
  }
});
