// Rate limits (decisions.md 1): per key, for attribution per client address; 429 `throttled` with Retry-After and
// RateLimit-* headers.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKey } from '../../src/apps/service.ts';
import { post } from '../attribution/world.ts';
import { grant } from '../grants/world.ts';
import { type ServiceResponse, startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';

const CATALOGUE = '/api/v1/client-api/metrics/catalog/';
const EVENTS = '/api/v1/client-api/events/';

async function withService(env: Record<string, string>, work: (service: TestService) => Promise<void>): Promise<void> {
  const service = await startService({ env });
  try {
    await addProfile(service, 'anna');
    await addAccessLevel(service, 'premium');
    await work(service);
  } finally {
    await service.close();
  }
}

// Windows last one second, and on a busy machine what a test does in one may take longer. So time stands still except
// where a test advances it.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  // No process receives requests right after its start.
  vi.advanceTimersByTime(60_000);
});

afterEach(() => {
  vi.useRealTimers();
});

function expectThrottled(response: ServiceResponse): void {
  expect(response.json).toEqual({
    errors: [{ source: 'non_field_errors', errors: [expect.any(String)] }],
    error_code: 'throttled',
    status_code: 429,
  });
  expect(response.status).toBe(429);
  expect(response.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-remaining': '0', 'ratelimit-reset': '1' });
}

const grantOnce = (service: TestService, key = service.secretKey) =>
  grant(service, { access_level_id: 'premium' }, { 'service-customer-user-id': 'anna' }, { key });

describe('server-side operations', () => {
  test('each key has its own limit, and the headers say how much is left', async () => {
    await withService({ RATE_LIMIT_SERVER: '3' }, async (service) => {
      const { key: otherKey } = await createKey(service.deps, { appId: service.appId, kind: 'secret' });
      for (const left of ['2', '1', '0']) {
        const response = await grantOnce(service);
        expect(response.status).toBe(200);
        expect(response.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': left });
      }
      const refused = await grantOnce(service);
      expectThrottled(refused);
      expect(refused.headers['cache-control']).toBe('no-store');
      expect((await grantOnce(service, otherKey)).status).toBe(200);
      vi.advanceTimersByTime(999);
      expectThrottled(await grantOnce(service));
      vi.advanceTimersByTime(1);
      expect((await grantOnce(service)).status).toBe(200);
    });
  });

  test('as many requests of a burst are served as the limit allows, even while its key is being looked up', async () => {
    await withService({ RATE_LIMIT_SERVER: '3' }, async (service) => {
      // The first burst opens the connections; a minute later the key is no longer cached.
      await Promise.all(Array.from({ length: 10 }, () => grantOnce(service)));
      vi.advanceTimersByTime(60_000);
      const responses = await Promise.all(Array.from({ length: 10 }, () => grantOnce(service)));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);
    });
  });

  test('a request without a good key is a 401, and does not count', async () => {
    await withService({ RATE_LIMIT_SERVER: '1' }, async (service) => {
      for (let i = 0; i < 3; i++) expect((await grantOnce(service, service.publicKey)).status).toBe(401);
      expect((await grantOnce(service)).status).toBe(200);
    });
  });
});

test('analytics and the event feed share a limit of their own, which each key has to itself', async () => {
  await withService({ RATE_LIMIT_ANALYTICS: '2', RATE_LIMIT_SERVER: '1' }, async (service) => {
    const chart = () =>
      service.call('POST', '/api/v1/client-api/metrics/analytics/', { key: service.secretKey, body: {} });
    const events = () => service.call('GET', EVENTS, { key: service.secretKey });
    expect((await chart()).status).toBe(400);
    expect((await events()).status).toBe(200);
    expectThrottled(await events());
    expectThrottled(await chart());
    const { key } = await createKey(service.deps, { appId: service.appId, kind: 'secret' });
    expect((await service.call('GET', EVENTS, { key })).status).toBe(200);
    expect((await grantOnce(service)).status).toBe(200);
    // Operations that need no key have no limit.
    for (let i = 0; i < 3; i++) expect((await service.call('GET', CATALOGUE)).status).toBe(200);
  });
});

describe('attribution', () => {
  const record = { status: 'organic', customer_user_id: 'anna' };
  const from = (service: TestService, forwarded: string) =>
    post(service, record, { headers: { 'x-forwarded-for': forwarded } });

  test('is not limited unless set', async () => {
    await withService({}, async (service) => {
      const responses = await Promise.all(Array.from({ length: 100 }, () => post(service, record)));
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
      expect(responses[0]?.headers['ratelimit-limit']).toBeUndefined();
    });
  });

  test('is limited by client address, whichever key is used; X-Forwarded-For is not trusted', async () => {
    await withService({ RATE_LIMIT_ATTRIBUTION_PER_IP: '1' }, async (service) => {
      const { key } = await createKey(service.deps, { appId: service.appId, kind: 'public' });
      expect((await from(service, '203.0.113.1')).status).toBe(201);
      expectThrottled(await from(service, '203.0.113.2'));
      expectThrottled(await post(service, record, { key }));
    });
  });

  test('trusts X-Forwarded-For from a trusted proxy, and counts an IPv6 client by its network', async () => {
    await withService({ RATE_LIMIT_ATTRIBUTION_PER_IP: '1', TRUST_PROXY: '127.0.0.0/8, ::1' }, async (service) => {
      expect((await from(service, '203.0.113.1')).status).toBe(201);
      expect((await from(service, '203.0.113.2')).status).toBe(201);
      expectThrottled(await from(service, '203.0.113.1'));
      expectThrottled(await from(service, '198.51.100.9, 203.0.113.1'));
      expect((await from(service, '2001:db8:1:2::1')).status).toBe(201);
      expectThrottled(await from(service, '2001:db8:1:2:ffff::2'));
      expect((await from(service, '2001:db8:1:3::1')).status).toBe(201);
    });
  });

  test('takes an address in X-Forwarded-For for the same client with or without a port', async () => {
    await withService(
      { RATE_LIMIT_ATTRIBUTION_PER_IP: '1', TRUST_PROXY: '127.0.0.1, 198.51.100.9' },
      async (service) => {
        expect((await from(service, '203.0.113.1:50001')).status).toBe(201);
        expectThrottled(await from(service, '203.0.113.1:50002'));
        expectThrottled(await from(service, '203.0.113.1, 198.51.100.9:443'));
        expect((await from(service, '[2001:db8:1:2::1]:50001')).status).toBe(201);
        expectThrottled(await from(service, '[2001:db8:1:2::2]'));
      },
    );
  });
});
