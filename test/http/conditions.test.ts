// Every condition of the catalogue, provoked by a request. A new condition without a provocation does not compile.
import { connect } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONDITIONS, type ConditionName } from '../../src/errors.ts';
import { ATTRIBUTION, post } from '../attribution/world.ts';
import { ANNA, GRANT, grant, revoke } from '../grants/world.ts';
import { updateProfile } from '../profile/world.ts';
import { holdProfile, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { type RawResponse, sendRaw } from './raw.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { REQUEST_TIMEOUT_MS: '300' } });
  await addProfile(service, 'anna');
  await addAccessLevel(service, 'premium');
  await addAccessLevel(service, 'gold');
});
afterAll(() => service.close());

const record = { status: 'organic', customer_user_id: 'anna' };

async function withService<T>(env: Record<string, string>, work: (other: TestService) => Promise<T>): Promise<T> {
  const other = await startService({ env });
  try {
    await addProfile(other, 'anna');
    return await work(other);
  } finally {
    await other.close();
  }
}

type Provoked = Pick<RawResponse, 'status' | 'headers' | 'json'>;

const PROVOCATIONS: Record<ConditionName, () => Promise<unknown>> = {
  not_authenticated: () => service.call('POST', ATTRIBUTION, { body: record }),
  profile_not_found: () => post(service, { ...record, customer_user_id: 'nobody' }),
  profile_not_named: () => grant(service, { access_level_id: 'premium' }, {}),
  access_level_not_found: () => grant(service, { access_level_id: 'platinum' }),
  grant_not_found: () => revoke(service, { access_level_id: 'premium' }),
  revocation_after_end: async () => {
    await grant(service, { access_level_id: 'gold', expires_at: '2090-01-01T00:00:00Z' });
    return revoke(service, { access_level_id: 'gold', revoke_at: '2090-01-01T00:00:01Z' });
  },
  idempotency_in_flight: async () => {
    const send = () => grant(service, { access_level_id: 'premium' }, { ...ANNA, 'idempotency-key': 'once' });
    const release = await holdProfile(service, 'anna');
    const first = send();
    await waitForBlocked(service);
    const second = await send();
    await release();
    await first;
    return second;
  },
  malformed_body: () => post(service, '{'),
  malformed_request: () => sendRaw(service.port, 'GET / HTTP/9.9\r\n\r\n'),
  body_not_object: () => post(service, '[]'),
  path_not_found: () => service.call('GET', '/nothing/here'),
  method_not_allowed: () => service.call('DELETE', GRANT),
  request_timeout: () => sendRaw(service.port, 'POST /slow HTTP/1.1\r\nHost: x\r\n'),
  body_too_large: () => post(service, 'x'.repeat(64 * 1024 + 1)),
  unsupported_media_type: () => post(service, record, { headers: { 'content-type': 'text/plain' } }),
  unsupported_content_encoding: () => post(service, record, { headers: { 'content-encoding': 'gzip' } }),
  throttled: () =>
    withService({ RATE_LIMIT_ATTRIBUTION_PER_IP: '1' }, async (other) => {
      await post(other, record);
      return post(other, record);
    }),
  headers_too_large: () => sendRaw(service.port, `GET / HTTP/1.1\r\nHost: x\r\nx-big: ${'x'.repeat(20_000)}\r\n\r\n`),
  internal: () =>
    withService({}, async (other) => {
      await sql`alter table profile_attribution rename to elsewhere`.execute(other.database.db);
      return post(other, record);
    }),
  unavailable: () =>
    withService({}, (other) => {
      other.startDraining();
      return other.call('GET', '/readyz');
    }),
};

test.each(Object.entries(PROVOCATIONS))('%s is answered as the catalogue says', async (name, provoke) => {
  const { status, code, source } = CONDITIONS[name as ConditionName];
  const answer = (await provoke()) as Provoked;
  expect(answer.json).toEqual({
    errors: [{ source, errors: [expect.stringMatching(/\w.*\.$/)] }],
    error_code: code,
    status_code: status,
  });
  expect(answer.status).toBe(status);
  expect(answer.headers['request-id']).toMatch(/^[0-9a-f]{32}$/);
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('a client that leaves in the middle of its request disturbs nobody', async () => {
  const socket = connect(service.port, '127.0.0.1');
  socket.write(`POST ${ATTRIBUTION} HTTP/1.1\r\nHost: x\r\nAuthorization: Api-Key ${service.publicKey}\r\n`);
  socket.write('Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"status":');
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.resetAndDestroy();
  expect(await post(service, record)).toMatchObject({ status: 201 });
});

test('a transaction still blocked by others after all retries may be sent again later', async () => {
  await withService({}, async (other) => {
    await sql`create function stand_in_the_way() returns trigger language plpgsql as
      $$ begin raise serialization_failure; end $$`.execute(other.database.db);
    await sql`create trigger conflict before update on profile
      for each row execute function stand_in_the_way()`.execute(other.database.db);
    const response = await updateProfile(other, { customer: 'anna' }, { country: 'DE' });
    expect(response).toMatchObject({ status: 503, json: { error_code: 'service_unavailable' } });
    expect(response.headers['retry-after']).toBeDefined();
  });
});
