// Headers as clients may send them: many of them, or one of ours more than once (decisions.md 1 to 3).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProfile, PROFILE } from '../profile/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { type RawResponse, sendRaw } from './raw.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await createProfile(service, { customer: 'anna' });
});
afterAll(() => service.close());

/** Sends each header on a line of its own, in this order. */
function send(method: 'GET' | 'POST', headers: readonly (readonly [string, string])[]): Promise<RawResponse> {
  const body = method === 'POST' ? '{}' : '';
  const own = [
    ['host', 'x'],
    ['content-type', 'application/json'],
    ['content-length', String(body.length)],
  ];
  const lines = [...own, ...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  return sendRaw(service.port, `${method} ${PROFILE} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

const key = () => ['authorization', `Api-Key ${service.secretKey}`] as const;
const ANNA = ['service-customer-user-id', 'anna'] as const;

test('headers after a thousand others are read like the first ones', async () => {
  const filling = Array.from({ length: 1_500 }, () => ['a', '1'] as const);
  const nobody = ['service-profile-id', '00000000-0000-4000-8000-000000000000'] as const;
  expect(await send('GET', [...filling, key(), ANNA])).toMatchObject({ status: 200 });
  expect(await send('GET', [key(), ANNA, ...filling, nobody])).toMatchObject({
    status: 404,
    json: { error_code: 'profile_does_not_exist' },
  });
});

test.each([
  ['service-customer-user-id', 'first', 'second'],
  ['service-customer-user-id', 'anna', 'anna'],
  ['service-profile-id', '00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000000'],
])('%s that is sent twice names no profile, and creates none', async (name, first, second) => {
  const twice = [[name, first] as const, [name, second] as const];
  for (const method of ['GET', 'POST'] as const) {
    expect(await send(method, [key(), ...twice])).toMatchObject({
      status: 400,
      json: { error_code: 'value_error', errors: [{ source: name, errors: ['Must be sent only once.'] }] },
    });
  }
  const made = service.deps.db.selectFrom('profile').select('customer_user_id');
  expect(await made.execute()).toEqual([{ customer_user_id: 'anna' }]);
});

test('an Idempotency-Key that is sent twice protects nothing, and is refused', async () => {
  const grant = '/api/v2/server-side-api/purchase/profile/grant/access-level/';
  const body = '{"access_level_id":"premium"}';
  const lines = [key(), ANNA, ['idempotency-key', 'a'], ['idempotency-key', 'b'], ['content-type', 'application/json']];
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const bytes = `POST ${grant} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n${head}\r\n${body}`;
  expect(await sendRaw(service.port, bytes)).toMatchObject({
    status: 400,
    json: { error_code: 'value_error', errors: [{ source: 'idempotency-key', errors: ['Must be sent only once.'] }] },
  });
});

test('a customer user id with a comma is one id', async () => {
  const commas = ['service-customer-user-id', 'Smith, Anna'] as const;
  expect(await send('POST', [key(), commas])).toMatchObject({
    status: 200,
    json: { data: { customer_user_id: 'Smith, Anna' } },
  });
});
