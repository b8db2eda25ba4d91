// Grants refused because of their body or headers (interface 7, decisions.md 1, 3 and 5).
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { refused } from '../setup/refused.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { grant, utf8 } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  await addProfile(service, 'anna');
});
afterAll(() => service.close());

const valid = { access_level_id: 'premium' };

test('an access level that the app has not configured is named in the message, and nothing is granted', async () => {
  const response = await grant(service, { access_level_id: 'platinum' });
  expect(response).toMatchObject(refused('paid_access_level_does_not_exist', ['non_field_errors', /platinum/]));
  expect(response.headers['cache-control']).toBe('no-store');
  const { rows } = await sql`select from access_grant`.execute(service.database.db);
  expect(rows).toHaveLength(0);
});

test('access levels are compared exactly and never across apps', async () => {
  const { app } = await createApp(service.deps, { name: 'Other' });
  await addAccessLevel({ ...service, appId: app.app_id }, 'theirs');
  for (const access_level_id of ['Premium', 'premium ', '', 'theirs', '__proto__', 'x'.repeat(255)]) {
    expect(await grant(service, { access_level_id })).toMatchObject(
      refused('paid_access_level_does_not_exist', ['non_field_errors', /does not exist/]),
    );
  }
});

test('without a profile in the headers: 400 profile_does_not_exist, source non_field_errors', async () => {
  const namings: Record<string, string>[] = [
    {},
    { 'service-customer-user-id': '' },
    { 'service-customer-user-id': '  ', 'service-profile-id': '' },
    { 'service-profile-id': '\t' },
    { 'customer-user-id': 'anna' },
  ];
  for (const headers of namings) {
    const response = await grant(service, valid, headers);
    expect(response).toMatchObject(refused('profile_does_not_exist', ['non_field_errors', /./]));
    expect(response.json.errors).toHaveLength(1);
  }
});

test.each([{}, { access_level_id: null }])('an absent access level is reported as missing: %j', async (body) => {
  expect(await grant(service, body)).toMatchObject(refused('missing', ['access_level_id', /required/]));
});

test.each([5, true, ['premium'], {}])('nothing is coerced: %j is a type_error', async (value) => {
  expect(await grant(service, { access_level_id: value })).toMatchObject(
    refused('type_error', ['access_level_id', /string/]),
  );
  for (const name of ['starts_at', 'expires_at']) {
    expect(await grant(service, { ...valid, [name]: value })).toMatchObject(refused('type_error', [name, /string/]));
  }
});

test('an access level id of 256 characters, with U+0000 or an unpaired surrogate is a value_error', async () => {
  for (const access_level_id of ['x'.repeat(256), '💡'.repeat(256), 'a\u0000', 'a\ud800']) {
    expect(await grant(service, { access_level_id })).toMatchObject(refused('value_error', ['access_level_id', /./]));
  }
});

test.each([
  '',
  'tomorrow',
  '2030-01-15',
  '2030-01-15T',
  '2030-01-15T10',
  '2030-01-15 10:30:00',
  '15.01.2030T10:30:00',
  '2030-1-15T10:30:00Z',
  '2030-02-29T10:30:00Z',
  '2030-13-01T10:30:00Z',
  '2030-01-15T24:00:00Z',
  '2030-01-15T10:60:00Z',
  '2030-01-15T10:30:61Z',
  '2030-01-15T10:30:00.Z',
  '2030-01-15T10:30:00+5',
  '2030-01-15T10:30:00+24:00',
  '2030-01-15T10:30:00+00:60',
  '2030-01-15T10:30:00 Z',
  ' 2030-01-15T10:30:00Z',
  '2030-01-15T10:30:00Z\n',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
  '+012030-01-15T10:30:00Z',
  '1893456000',
])('%j is not a datetime', async (text) => {
  for (const name of ['starts_at', 'expires_at']) {
    expect(await grant(service, { ...valid, [name]: text })).toMatchObject(refused('datetime', [name, /ISO 8601/]));
  }
});

test('U+0000 is a value_error even in a datetime', async () => {
  const response = await grant(service, { ...valid, starts_at: '2030-01-15T10:30:00Z\u0000' });
  expect(response).toMatchObject(refused('value_error', ['starts_at', /U\+0000/]));
});

test.each([
  ['2030-01-01T00:00:00Z', '2029-12-31T23:59:59.999999Z'],
  ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000000Z'],
  ['2030-01-01T00:00:00Z', '2030-01-01T05:30:00+05:30'],
  ['2030-01-01T00:00:00.0000001Z', '2030-01-01T00:00:00.0000009Z'],
])('from %s until %s is a value_error on expires_at', async (starts_at, expires_at) => {
  expect(await grant(service, { ...valid, starts_at, expires_at })).toMatchObject(
    refused('value_error', ['expires_at', /after starts_at/]),
  );
});

test('there is one entry per field, in the order of the request table', async () => {
  expect(await grant(service, { expires_at: 5, starts_at: 'soon' })).toMatchObject(
    refused('missing', ['access_level_id', /./], ['starts_at', /./], ['expires_at', /./]),
  );
});

test('a customer user id of 256 characters is a value_error on its header', async () => {
  for (const id of ['x'.repeat(256), utf8('💡'.repeat(256))]) {
    expect(await grant(service, valid, { 'service-customer-user-id': id })).toMatchObject(
      refused('value_error', ['service-customer-user-id', /255/]),
    );
  }
});

test('a header whose bytes are not UTF-8 is a value_error on that header', async () => {
  for (const name of ['service-customer-user-id', 'service-profile-id']) {
    for (const bytes of ['\xff', 'a\xe9', '\xed\xa0\x80', '\xc0\x80']) {
      expect(await grant(service, valid, { [name]: bytes })).toMatchObject(refused('value_error', [name, /UTF-8/]));
    }
  }
});

test.each(['', '{', 'access_level_id=premium'])('malformed JSON is a parse_error: %j', async (body) => {
  expect(await grant(service, body)).toMatchObject(refused('parse_error', [null, /JSON/]));
});

test.each(['[]', 'null', '"premium"'])('JSON that is not an object is a type_error: %s', async (body) => {
  expect(await grant(service, body)).toMatchObject(refused('type_error', ['non_field_errors', /object/]));
});

test('the body is checked before the profile, the profile before the access level', async () => {
  expect(await grant(service, { access_level_id: 5 }, {})).toMatchObject({
    status: 400,
    json: { error_code: 'type_error' },
  });
  expect(await grant(service, { access_level_id: 'no' }, {})).toMatchObject({
    json: { error_code: 'profile_does_not_exist' },
  });
  const unknown = { 'service-customer-user-id': 'nobody' };
  expect(await grant(service, { access_level_id: 'no' }, unknown)).toMatchObject({ status: 404 });
});
