// Profile operations refused because of their body or headers; they store nothing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refused } from '../setup/refused.ts';
import { startService, type TestService } from '../setup/service.ts';
import { createProfile, deleteProfile, PROFILE, readProfile, updateProfile } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { HEADER_ALIASES: 'acme' } });
  await createProfile(service, { customer: 'anna' }, { custom_attributes: { kept: 'x' } });
});
afterAll(() => service.close());

const operations = { create: createProfile, update: updateProfile };

describe.each(Object.entries(operations))('%s', (_, send) => {
  test.each<[string, unknown, string, string, RegExp]>([
    ['installed_at without a time', { installed_at: '2025-01-01' }, 'datetime', 'installed_at', /ISO 8601/],
    ['installed_at as a number', { installed_at: 5 }, 'type_error', 'installed_at', /string/],
    ['a country of three letters', { country: 'USA' }, 'value_error', 'country', /2-letter/],
    ['an empty country', { country: '' }, 'value_error', 'country', /2-letter/],
    ['a store of 51 characters', { store: 's'.repeat(51) }, 'value_error', 'store', /at most 50/],
    ['an empty store', { store: '' }, 'value_error', 'store', /at least 1/],
    ['a store with U+0000', { store: 'a\u0000' }, 'value_error', 'store', /U\+0000/],
    ['attributes as text', { custom_attributes: 'a' }, 'type_error', 'custom_attributes', /./],
    ['an attribute without its key', { custom_attributes: [{ value: 1 }] }, 'missing', 'custom_attributes', /key/],
    [
      'an attribute of 31 characters',
      { custom_attributes: { plan: 'x'.repeat(31) } },
      'value_error',
      'custom_attributes',
      /plan/,
    ],
    [
      'a key with a space',
      { custom_attributes: [{ key: 'a b', value: 1 }] },
      'value_error',
      'custom_attributes',
      /a b/,
    ],
  ])('%s', async (_, body, code, source, message) => {
    expect(await send(service, { customer: 'anna' }, body)).toMatchObject(refused(code, [source, message]));
  });

  test('reports every offending field, in the order of the request table', async () => {
    const body = { custom_attributes: 5, store: '', country: 5, installed_at: 'x' };
    expect(await send(service, { customer: 'anna' }, body)).toMatchObject(
      refused('datetime', ['installed_at', /./], ['country', /./], ['store', /./], ['custom_attributes', /./]),
    );
  });

  test('stores no attribute if one is bad, and counts those that exist towards the limit of 30', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, index]));
    expect(await send(service, { customer: 'anna' }, { custom_attributes: many, country: 'DE' })).toMatchObject(
      refused('value_error', ['custom_attributes', /at most 30.*k29/]),
    );
    const { json } = await readProfile(service, { customer: 'anna' });
    expect(json.data.custom_attributes).toEqual({ kept: 'x' });
  });

  test('refuses a body that is not an object, and a missing one', async () => {
    expect(await send(service, { customer: 'anna' }, '[]')).toMatchObject(
      refused('type_error', ['non_field_errors', /./]),
    );
    expect(await send(service, { customer: 'anna' }, '{')).toMatchObject(refused('parse_error', [null, /./]));
    expect(await send(service, { customer: 'anna' }, '')).toMatchObject(refused('parse_error', [null, /./]));
  });

  test('refuses a customer user id of 256 characters', async () => {
    expect(await send(service, { customer: 'x'.repeat(256) })).toMatchObject(
      refused('value_error', ['service-customer-user-id', /255/]),
    );
  });
});

test('creating a profile with the customer user id of another one is refused', async () => {
  const { json } = await createProfile(service, { customer: 'bert' });
  const response = await createProfile(service, { profile: json.data.profile_id, customer: 'anna' }, { country: 'DE' });
  expect(response).toMatchObject(refused('value_error', ['service-customer-user-id', /another profile/]));
  expect((await readProfile(service, { customer: 'bert' })).json.data.profile_id).toBe(json.data.profile_id);
});

test('a customer user id of another profile is reported under the header that gave it', async () => {
  const { json } = await createProfile(service, {});
  const response = await service.call('POST', PROFILE, {
    key: service.secretKey,
    headers: { 'acme-profile-id': json.data.profile_id, 'acme-customer-user-id': 'anna' },
    body: {},
  });
  expect(response).toMatchObject(refused('value_error', ['acme-customer-user-id', /another profile/]));
});

test('creating a profile by an identifier in the body is refused, as a header has to give it', async () => {
  const count = () => service.database.db.selectFrom('profile').select('profile_id').execute();
  const before = await count();
  expect(await createProfile(service, {}, { customer_user_id: 'carl', profile_id: 'x' })).toMatchObject(
    refused('value_error', ['customer_user_id', /service-customer-user-id/], ['profile_id', /service-profile-id/]),
  );
  expect(await count()).toEqual(before);
  for (const none of [null, '']) {
    const { json } = await createProfile(service, {}, { customer_user_id: none, profile_id: none });
    expect(json.data.customer_user_id).toBeNull();
  }
  // A profile can be sent back exactly as it was received.
  const anna = await createProfile(service, { customer: 'anna' });
  const { profile_id } = anna.json.data;
  for (const named of [{ customer: 'anna' }, { profile: profile_id }, { customer: 'anna', profile: profile_id }]) {
    expect(await createProfile(service, named, anna.json.data)).toMatchObject({ status: 200 });
  }
});

test.each(['GET', 'PATCH', 'DELETE'])('%s needs a header that names the profile', async (method) => {
  const response = await service.call(method, PROFILE, {
    key: service.secretKey,
    headers: { 'service-customer-user-id': '' },
    ...(method === 'PATCH' && { body: {} }),
  });
  expect(response).toMatchObject(refused('profile_does_not_exist', ['non_field_errors', /service-customer-user-id/]));
});

test('reading and deleting check the headers, too', async () => {
  for (const send of [readProfile, deleteProfile]) {
    expect(await send(service, { customer: 'x'.repeat(256) })).toMatchObject(
      refused('value_error', ['service-customer-user-id', /255/]),
    );
  }
});
