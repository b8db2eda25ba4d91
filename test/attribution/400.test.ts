// Attributions refused because of their body (interface 7, decisions.md 1 "Validation errors").
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refused } from '../setup/refused.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { post, readRecord } from './world.ts';

let service: TestService;
let profileId: string;
beforeAll(async () => {
  service = await startService();
  profileId = await addProfile(service, 'anna');
});
afterAll(() => service.close());

const OPTIONAL = ['attribution_user_id', 'channel', 'campaign', 'ad_group', 'ad_set', 'creative'];
const valid = { status: 'organic', customer_user_id: 'anna' };

test.each(['paid', 'Organic', '', ' organic', 'non-organic'])(
  'the status %j is refused as enum, and the message lists the permitted values',
  async (status) => {
    expect(await post(service, { ...valid, status })).toMatchObject(
      refused('enum', ['status', /organic, non_organic, unknown/]),
    );
  },
);

test.each([{}, { status: null }])('an absent status is reported as missing: %j', async (body) => {
  expect(await post(service, { ...body, customer_user_id: 'anna' })).toMatchObject(
    refused('missing', ['status', /required/]),
  );
});

test.each([
  {},
  { customer_user_id: null },
  { profile_id: null },
  { customer_user_id: '', profile_id: '' },
  { customer_user_id: null, profile_id: '' },
])('without an identifier, both are reported as missing: %j', async (naming) => {
  const words = /customer_user_id or profile_id/;
  expect(await post(service, { status: 'organic', ...naming })).toMatchObject(
    refused('missing', ['customer_user_id', words], ['profile_id', words]),
  );
});

test.each([5, true, [], {}])('no value is coerced to a string: %j is a type_error everywhere', async (value) => {
  expect(await post(service, { ...valid, status: value })).toMatchObject(refused('type_error', ['status', /string/]));
  for (const name of [...OPTIONAL, 'customer_user_id', 'profile_id']) {
    expect(await post(service, { ...valid, [name]: value })).toMatchObject(refused('type_error', [name, /string/]));
  }
});

test('U+0000 and unpaired surrogates are a value_error on every member that is read', async () => {
  for (const name of [...OPTIONAL, 'status', 'customer_user_id', 'profile_id']) {
    for (const text of ['organic\u0000', 'a\u0000b', '\u0000', 'a\ud800', '\udc00a', '\udc00\ud800']) {
      const response = await post(service, { ...valid, [name]: text });
      expect(response).toMatchObject(refused('value_error', [name, /U\+0000/]));
    }
  }
});

test('501 code points are too long for a field, 256 for a customer_user_id', async () => {
  for (const name of OPTIONAL) {
    expect(await post(service, { ...valid, [name]: '💡'.repeat(501) })).toMatchObject(
      refused('value_error', [name, /500/]),
    );
  }
  expect(await post(service, { status: 'organic', customer_user_id: '💡'.repeat(256) })).toMatchObject(
    refused('value_error', ['customer_user_id', /255/]),
  );
});

test('there is one entry per offending field, in the order of the request table; the code is that of the first', async () => {
  const body = { profile_id: 7, creative: 'x'.repeat(501), channel: 'a\u0000', campaign: false, status: 'paid' };
  expect(await post(service, body)).toMatchObject(
    refused('enum', ['status', /./], ['channel', /./], ['campaign', /./], ['creative', /./], ['profile_id', /./]),
  );
  expect(await post(service, { channel: 7 })).toMatchObject(
    refused('missing', ['status', /./], ['channel', /./], ['customer_user_id', /./], ['profile_id', /./]),
  );
});

test('two faults of one field make one entry', async () => {
  const response = await post(service, { ...valid, channel: `\u0000${'x'.repeat(600)}` });
  expect(response.json.errors).toHaveLength(1);
});

test.each(['', '{', '{"status":}', 'status=organic', '{} {}', "{'status':'organic'}", '\ufeff', '\ufeff{}'])(
  'malformed JSON is a parse_error: %j',
  async (body) => {
    expect(await post(service, body)).toMatchObject(refused('parse_error', [null, /JSON/]));
  },
);

test('no body at all is a parse_error', async () => {
  expect(await post(service, undefined)).toMatchObject(refused('parse_error', [null, /JSON/]));
});

test('a body that is not UTF-8 is a parse_error', async () => {
  const bytes = Buffer.concat([Buffer.from('{"status":"organic","channel":"'), Buffer.from([0xff]), Buffer.from('"}')]);
  expect(await post(service, bytes)).toMatchObject(refused('parse_error', [null, /UTF-8/]));
  const surrogate = Buffer.from(bytes.toString('latin1').replace('\xff', '\xed\xa0\x80'), 'latin1');
  expect(await post(service, surrogate)).toMatchObject(refused('parse_error', [null, /UTF-8/]));
});

test.each(['[]', 'null', '"organic"', '5', 'true'])('JSON that is not an object is a type_error: %s', async (body) => {
  expect(await post(service, body)).toMatchObject(refused('type_error', ['non_field_errors', /object/]));
});

test('a refused record changes nothing', async () => {
  expect(await readRecord(service, profileId)).toBeUndefined();
});
