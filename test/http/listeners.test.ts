// {base_url} and {admin_url} (decisions.md 1): one listener for both or, with ADMIN_PORT, each operation only on its
// own.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ATTRIBUTION } from '../attribution/world.ts';
import { GRANT } from '../grants/world.ts';
import { startService, type TestService } from '../setup/service.ts';

let base: TestService;
let admin: TestService;
let both: TestService;
beforeAll(async () => {
  [base, admin, both] = await Promise.all([
    startService({ addresses: ['base'] }),
    startService({ addresses: ['admin'] }),
    startService(),
  ]);
});
afterAll(() => Promise.all([base.close(), admin.close(), both.close()]));

const isServed = async (service: TestService, method: string, path: string) =>
  (await service.call(method, path)).status !== 404;

test.each([
  ['POST', ATTRIBUTION, { base: true, admin: false }],
  ['POST', GRANT, { base: true, admin: false }],
  ['POST', '/api/v1/client-api/metrics/analytics/', { base: false, admin: true }],
  ['GET', '/api/v1/client-api/events/', { base: false, admin: true }],
  ['GET', '/docs/', { base: false, admin: true }],
  ['GET', '/openapi.json', { base: false, admin: true }],
  ['GET', '/healthz', { base: true, admin: true }],
  ['GET', '/readyz', { base: true, admin: true }],
  ['GET', '/metrics', { base: true, admin: true }],
])('%s %s is served on the listeners to which it belongs', async (method, path, expected) => {
  expect({ base: await isServed(base, method, path), admin: await isServed(admin, method, path) }).toEqual(expected);
  expect(await isServed(both, method, path)).toBe(true);
});

test('a path of the other listener does not exist, whatever the method', async () => {
  expect((await base.call('GET', '/api/v1/client-api/metrics/analytics/')).status).toBe(404);
  expect((await admin.call('GET', GRANT)).status).toBe(404);
});
