// Load shedding: while the event loop is far behind, new requests are immediately refused with 503 and Retry-After.
import fastify from 'fastify';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { registerPressure } from '../../src/http/pressure.ts';
import { post } from '../attribution/world.ts';
import { type ServiceResponse, startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { MAX_LOOP_DELAY_MS: '100' } });
  await addProfile(service, 'anna');
});
afterAll(() => service.close());

const record = { status: 'organic', customer_user_id: 'anna' };

/** Polls, because the start of a test run may itself be too much load. */
function expectTaken(): Promise<void> {
  return expect.poll(async () => (await post(service, record)).status, { timeout: 15_000 }).toBe(201);
}

/** For polling, because the delay of the event loop is only measured now and then. */
async function expectRefused(): Promise<ServiceResponse> {
  const response = await post(service, record);
  expect(response.status).toBe(503);
  return response;
}

function blockLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Runs `work` while the event loop, which this test shares with the service, is blocked again and again. */
async function underLoad<T>(work: () => Promise<T>): Promise<T> {
  const load = setInterval(() => blockLoop(150), 1);
  await new Promise((resolve) => setTimeout(resolve, 600));
  try {
    return await work();
  } finally {
    clearInterval(load);
  }
}

test('a process that is far behind refuses new requests with Retry-After, and accepts them again once it has caught up', async () => {
  await expectTaken();
  const refused = await underLoad(() => vi.waitFor(expectRefused, { timeout: 15_000 }));
  expect(refused.json).toMatchObject({ error_code: 'service_unavailable', status_code: 503 });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  // A web page can read the refusal.
  expect(refused.headers['access-control-allow-origin']).toBe('*');
  await expectTaken();
  expect((await service.call('GET', '/metrics')).text).toMatch(/^sps_http_shed_total [1-9]/m);
});

test('health, readiness and metrics are answered by a process that is far behind', async () => {
  const statuses = await underLoad(async () => [
    (await service.call('GET', '/healthz')).status,
    (await service.call('GET', '/readyz')).status,
    (await service.call('GET', '/metrics')).status,
  ]);
  expect(statuses).toEqual([200, 200, 200]);
});

test('the time since an overdue measurement counts as delay until it is made', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
  const app = fastify().get('/', async () => 'taken');
  // More than the delay of any machine that runs this.
  registerPressure(app, 60_000);
  const unlimited = fastify().get('/', async () => 'taken');
  registerPressure(unlimited, 0);
  const statusAt = async (ms: number) => {
    time = ms;
    return (await app.inject('/')).statusCode;
  };
  try {
    await app.ready();
    expect([await statusAt(60_250), await statusAt(60_251)]).toEqual([200, 503]);
    expect(await unlimited.inject('/')).toMatchObject({ statusCode: 200 });
    // Two samples; the second finds no delay measured since the first.
    vi.advanceTimersByTime(500);
    expect(await statusAt(60_251)).toBe(200);
    await Promise.all([app.close(), unlimited.close()]);
  } finally {
    clock.mockRestore();
    vi.useRealTimers();
  }
});
