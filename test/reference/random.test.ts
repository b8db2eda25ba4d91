// Random requests generated from the declarations of the operations. Each must be answered as declared (the test
// service checks that for every call), and none may make the service fail.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRoutes } from '../../src/routes.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct, addProfile } from '../setup/world.ts';
import { valuesOf } from './arbitrary.ts';

const RUNS = 60;

let service: TestService;
beforeAll(async () => {
  service = await startService();
  for (const name of ['user-1', 'user-2']) await addProfile(service, name);
  await addAccessLevel(service, 'premium');
  await addProduct(service, 'monthly');
});
afterAll(() => service.close());

const names = fc.constantFrom('user-1', 'user-1', 'user-2', 'nobody', '');

test('no request makes the service fail', { timeout: 60_000 }, async () => {
  const statuses = new Set<number>();
  for (const { method, path, key, operation } of listRoutes(service.deps)) {
    const requests = fc.record(
      {
        name: operation.headers ? names : fc.constant(undefined),
        once:
          key === 'secret' && operation.body ? fc.constantFrom('a', 'b', '', 'x'.repeat(256)) : fc.constant(undefined),
        query: operation.querystring ? valuesOf(operation.querystring) : fc.constant(undefined),
        body: operation.body ? valuesOf(operation.body) : fc.constant(undefined),
      },
      { requiredKeys: ['body'] },
    );
    const property = fc.asyncProperty(requests, async ({ name, once, query, body }) => {
      const search = new URLSearchParams(
        Object.entries(query ?? {}).map(([member, value]): [string, string] => [member, String(value)]),
      );
      const { status, text } = await service.call(String(method), `${path}?${search}`, {
        key: key === 'public' ? service.publicKey : service.secretKey,
        headers: {
          ...(name !== undefined && { 'service-customer-user-id': name }),
          ...(once !== undefined && { 'idempotency-key': once }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      expect(status, text).toBeLessThan(500);
      statuses.add(status);
    });
    await fc.assert(property, { numRuns: RUNS });
  }
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404]));
});
