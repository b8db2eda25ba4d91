// The locale of the database does not change what is counted: codes and ids are compared by code point, not as words of
// a language.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { oneTime, period, setTransaction } from '../purchases/world.ts';
import { createTestDatabase } from '../setup/database.ts';
import { startService, type TestService } from '../setup/service.ts';
import { askChart } from './import.ts';

let service: TestService;
beforeAll(async () => {
  const database = await createTestDatabase(
    "template template0 encoding 'utf8' locale_provider icu icu_locale 'tr' locale 'C'",
  );
  await migrateToLatest(database.url);
  service = await startService({ database, now: () => new Date('2025-06-15T12:00:00Z') });
});
afterAll(() => service.close());

test('transactions of the same moment are ordered by code point', async () => {
  await service.call('POST', '/api/v2/server-side-api/profile/', {
    key: service.secretKey,
    headers: { 'service-customer-user-id': 'bea' },
    body: {},
  });
  const chain = { store_original_transaction_id: 'B', purchased_at: '2025-02-01T00:00:00Z' };
  const free = { country: 'US', currency: 'USD', value: 0 };
  // In Turkish, "a" sorts before "B", so the chain would begin with the paid period.
  await setTransaction(service, 'bea', period({ ...chain, store_transaction_id: 'a' }));
  const { json } = await setTransaction(service, 'bea', period({ ...chain, store_transaction_id: 'B', price: free }));
  expect(json.data.subscriptions.monthly.store_transaction_id).toBe('a');
  const filters = { date: ['2025-02-01', '2025-02-28'] };
  const trials = await askChart(service, { chart_id: 'trials_new', filters });
  expect(trials.json.data.common.value).toBe(1);
});

test('under a Turkish locale, in which the lower case of I has no dot, customers in Italy are counted', async () => {
  await service.call('POST', '/api/v2/server-side-api/profile/', {
    key: service.secretKey,
    headers: { 'service-customer-user-id': 'ada' },
    body: { country: 'IT', installed_at: '2025-01-01T00:00:00Z' },
  });
  const price = { country: 'IT', currency: 'USD', value: 5 };
  expect((await setTransaction(service, 'ada', oneTime({ price, purchased_at: '2025-01-02T00:00:00Z' }))).status).toBe(
    200,
  );
  for (const [chart_id, value] of [
    ['installs', 1],
    ['non_subscriptions', 1],
    ['revenue', 5],
  ] as const) {
    const filters = { date: ['2025-01-01', '2025-01-31'], country: ['it'] };
    const { json } = await askChart(service, { chart_id, filters });
    expect(Object.values<{ value: number }>(json.data)[0]?.value, chart_id).toBe(value);
  }
});
