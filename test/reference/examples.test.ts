// The examples of the API reference: each body is accepted as it stands, each response matches its declaration.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRoutes } from '../../src/routes.ts';
import { eventPayload } from '../../src/webhooks/schema.ts';
import { findSchemaFault } from '../setup/response-check.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addProfile(service, 'user-1');
  await addAccessLevel(service, 'premium');
});
afterAll(() => service.close());

test('every operation with a body has an example of it, and accepts that', async () => {
  const taking = listRoutes(service.deps).filter(({ operation }) => operation.body);
  expect(taking.length).toBeGreaterThan(5);
  // In the order of the routes, so that what is revoked has been granted.
  for (const { method, path, key, operation } of taking) {
    const [example] = operation.body!.examples as object[];
    const { status, text } = await service.call(String(method), path, {
      key: key === 'public' ? service.publicKey : service.secretKey,
      headers: key === 'secret' && operation.headers ? { 'service-customer-user-id': 'user-1' } : {},
      body: example,
    });
    expect(Object.keys(operation.responses), `${operation.summary}: ${text}`).toContain(String(status));
  }
});

test('every response with a body has an example of it, and so does the event of a grant', () => {
  const responses = listRoutes(service.deps).flatMap(({ operation }) => Object.values(operation.responses));
  const declared = [...responses.filter((schema) => schema !== null), eventPayload('access_level_updated')];
  expect(declared.length).toBeGreaterThan(8);
  for (const schema of declared) {
    const [example] = schema.examples as object[];
    expect(findSchemaFault(schema, example)).toBeUndefined();
    expect(findSchemaFault(schema, {})).toBeDefined();
  }
});
