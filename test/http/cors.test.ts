// Which web pages may call (decisions.md 1): any origin for public-key operations, only ADMIN_CORS_ORIGIN for
// secret-key ones.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ATTRIBUTION, post } from '../attribution/world.ts';
import { GRANT, grant } from '../grants/world.ts';
import { PROFILE } from '../profile/world.ts';
import { type ServiceResponse, startService, type TestService } from '../setup/service.ts';

const ORIGIN = 'https://shop.example';
const CATALOGUE = '/api/v1/client-api/metrics/catalog';
const EVENTS = '/api/v1/client-api/events';
const LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

function preflight(service: TestService, path: string, method = 'POST'): Promise<ServiceResponse> {
  return service.call('OPTIONS', path, {
    headers: {
      origin: ORIGIN,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization, content-type',
    },
  });
}

const corsHeadersOf = ({ headers }: ServiceResponse) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control'));

describe('by default', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  test('a page of any origin may ask whether it may add attribution', async () => {
    for (const path of [ATTRIBUTION, ATTRIBUTION.slice(0, -1)]) {
      const response = await preflight(service, path);
      expect(response).toMatchObject({ status: 204, text: '' });
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': expect.stringMatching(/authorization/i),
        'access-control-max-age': '7200',
      });
      expect(response.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  test('a page of any origin may read every response to adding attribution, including errors and Request-Id', async () => {
    const headers = { origin: ORIGIN };
    const responses = [
      await post(service, { status: 'organic', customer_user_id: 'nobody' }, { headers }),
      await post(service, '{', { headers }),
      await post(service, {}, { headers: { ...headers, 'content-type': 'text/plain' } }),
      await service.call('POST', ATTRIBUTION, { body: {}, headers }),
      await service.call('PUT', ATTRIBUTION, { body: {}, headers }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([404, 400, 415, 401, 405]);
    for (const response of responses) {
      expect(response.headers['access-control-allow-origin']).toBe('*');
      const exposed = String(response.headers['access-control-expose-headers']).split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['Request-Id', 'Retry-After', ...LIMIT_HEADERS]));
    }
  });

  test('an OPTIONS request that is not a preflight is answered like any other method', async () => {
    for (const headers of [{}, { origin: ORIGIN }, { 'access-control-request-method': 'POST' }]) {
      expect(await service.call('OPTIONS', ATTRIBUTION, { headers })).toMatchObject({ status: 405 });
    }
    const headers = { origin: ORIGIN, 'access-control-request-method': 'POST' };
    expect(await service.call('PUT', ATTRIBUTION, { headers })).toMatchObject({ status: 405 });
  });

  test('secret-key operations send no CORS headers', async () => {
    const responses = [
      await preflight(service, GRANT),
      await preflight(service, EVENTS, 'GET'),
      await grant(service, {}, { origin: ORIGIN }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([405, 405, 400]);
    for (const response of responses) expect(corsHeadersOf(response)).toEqual([]);
  });

  test('paths that do not exist, health, and operations without a key send no CORS headers', async () => {
    const responses = [
      await preflight(service, '/nothing'),
      await preflight(service, '/healthz', 'GET'),
      await service.call('GET', '/healthz', { headers: { origin: ORIGIN } }),
      await service.call('GET', CATALOGUE, { headers: { origin: ORIGIN } }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([404, 405, 200, 200]);
    for (const response of responses) expect(corsHeadersOf(response)).toEqual([]);
  });
});

describe('with ADMIN_CORS_ORIGIN', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ env: { ADMIN_CORS_ORIGIN: 'https://admin.example' } });
  });
  afterAll(() => service.close());

  test('pages of that origin may use the secret-key operations', async () => {
    for (const [path, method] of [
      [GRANT, 'POST'],
      [EVENTS, 'GET'],
    ] as const) {
      const response = await preflight(service, path, method);
      expect(response.status).toBe(204);
      expect(response.headers['access-control-allow-origin']).toBe('https://admin.example');
      expect(response.headers['access-control-allow-methods']).toMatch(method);
    }
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
      const { headers } = await preflight(service, PROFILE, method);
      expect(String(headers['access-control-allow-methods']).split(', ').sort()).toEqual([
        'DELETE',
        'GET',
        'HEAD',
        'PATCH',
        'POST',
      ]);
    }
    const response = await grant(service, {}, { origin: 'https://admin.example' });
    expect(response.headers['access-control-allow-origin']).toBe('https://admin.example');
    // It names the file of a CSV.
    expect(response.headers['access-control-expose-headers']).toMatch(/Content-Disposition/);
  });

  test('the public-key operations still answer every origin', async () => {
    expect((await preflight(service, ATTRIBUTION)).headers['access-control-allow-origin']).toBe('*');
  });
});
