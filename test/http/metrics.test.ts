// /metrics (decisions.md 1): never open to everybody on the public listener; requests by operation and status.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { VERSION } from '../../src/version.ts';
import { post } from '../attribution/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { openRaw, sendRaw } from './raw.ts';

const TOKEN = 'a-token-of-some-length';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { METRICS_TOKEN: TOKEN, TRUST_PROXY: '127.0.0.1' } });
  await addProfile(service, 'anna');
});
afterAll(() => service.close());

const read = (headers: Record<string, string> = {}) => service.call('GET', '/metrics', { headers });

describe('metrics on the public listener', () => {
  test('answer loopback', async () => {
    const response = await read();
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.text).toMatch(/^process_resident_memory_bytes \d+/m);
    expect(response.text).toMatch(/^nodejs_eventloop_lag_seconds /m);
    expect(response.text).toContain(`\nsps_build_info{version="${VERSION}"} 1\n`);
    expect(response.text).toMatch(/^# TYPE sps_webhook_pending gauge/m);
  });

  test.each([
    { 'x-forwarded-for': '203.0.113.1' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-host': 'api.example' },
    { 'x-forwarded-proto': 'https' },
    { forwarded: 'for=203.0.113.1' },
    { 'x-real-ip': '203.0.113.1' },
    { via: '1.1 proxy' },
    { host: 'api.example' },
    { host: 'localhost.example' },
  ])('do not take for loopback what a proxy on this machine forwards: %j', async (headers) => {
    const response = await read(headers);
    expect(response).toMatchObject({ status: 401, json: { error_code: 'not_authenticated' } });
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });

  test('judge loopback by the address of the connection, whatever Host says', async () => {
    const { app } = await buildApp(service.deps);
    const readFrom = async (remoteAddress: string) =>
      (await app.inject({ url: '/metrics', headers: { host: 'localhost' }, remoteAddress })).statusCode;
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(await readFrom(address)).toBe(200);
    for (const address of ['203.0.113.1', '2001:db8::1', '::ffff:203.0.113.1']) {
      expect(await readFrom(address)).toBe(401);
    }
    await app.close();
  });

  test('answer whoever has the token', async () => {
    const proxied = { 'x-forwarded-for': '203.0.113.1', host: 'api.example' };
    expect((await read({ ...proxied, authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    for (const authorization of [`Bearer ${TOKEN}x`, 'Bearer ', TOKEN, `Api-Key ${service.secretKey}`]) {
      expect((await read({ ...proxied, authorization })).status).toBe(401);
    }
  });

  test('accept no token if METRICS_TOKEN is not set', async () => {
    const other = await startService();
    try {
      const headers = { host: 'api.example', authorization: 'Bearer undefined' };
      expect((await other.call('GET', '/metrics', { headers })).status).toBe(401);
    } finally {
      await other.close();
    }
  });
});

test('metrics leave out figures that the database does not give in time', async () => {
  const trx = await service.database.db.startTransaction().execute();
  await sql`lock table webhook`.execute(trx);
  const began = performance.now();
  const { status, text } = await read();
  const took = performance.now() - began;
  await trx.commit().execute();
  expect(took).toBeLessThan(8_000);
  expect(status).toBe(200);
  expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  expect(text).not.toContain('sps_webhook_pending');
  await expect.poll(async () => (await read()).text).toContain('sps_webhook_pending');
});

test('metrics are open on a listener of their own', async () => {
  const admin = await startService({ addresses: ['admin'] });
  try {
    expect((await admin.call('GET', '/metrics', { headers: { host: 'admin.internal' } })).status).toBe(200);
  } finally {
    await admin.close();
  }
});

test('requests are counted by operation and status, and their durations are measured', async () => {
  const count = async (labels: string) => {
    const { text } = await read();
    return Number(new RegExp(`^sps_http_requests_total\\{${labels}\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  };
  const created = 'operation="Add attribution",status="201"';
  const missing = 'operation="none",status="404"';
  const before = [await count(created), await count(missing)];
  await post(service, { status: 'organic', customer_user_id: 'anna' });
  await service.call('GET', '/somewhere/else');
  expect([await count(created), await count(missing)]).toEqual(before.map((one) => one + 1));
  expect((await read()).text).toMatch(/^sps_http_request_seconds_bucket\{le="0\.1",operation="Add attribution"\} \d+/m);
});

test('neither a path that does not exist nor a key becomes a label', async () => {
  await service.call('GET', `/made-up/${service.secretKey}`);
  const { text } = await read();
  expect(text).not.toMatch(/made-up|_live_/);
});

/** Returns how much the counter grows meanwhile; other test files in this process have counted, too. */
async function growthOf(counter: string, work: () => Promise<void>): Promise<number> {
  const countOf = async () =>
    Number(
      (await read()).text
        .split('\n')
        .find((line) => line.startsWith(`${counter} `))
        ?.split(' ')[1] ?? 0,
    );
  const before = await countOf();
  await work();
  return (await countOf()) - before;
}

test.each([
  ['GET / HTTP/7.1\r\n\r\n', 400],
  [`GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('input that never became a request is counted: %.20s', async (bytes, status) => {
  const counter = `sps_http_requests_total{operation="none",status="${status}"}`;
  const growth = await growthOf(counter, async () => {
    expect((await sendRaw(service.port, bytes)).status).toBe(status);
  });
  expect(growth).toBe(1);
});

test('connections beyond MAX_CONNECTIONS are closed, and counted', async () => {
  const growth = await growthOf('sps_http_connections_dropped_total', async () => {
    const small = await startService({ env: { MAX_CONNECTIONS: '1' } });
    const [first, second] = [openRaw(small.port), openRaw(small.port)];
    await second.ended;
    first.close();
    await first.ended;
    await small.close();
  });
  expect(growth).toBe(1);
});
