// Work for a client that has left is cancelled.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHARTS_PATH } from '../analytics/import.ts';
import { holdTable, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test.each([
  ['chart', CHARTS_PATH, 'fact_transaction', { filters: { date: ['2025-01-01'] } }],
  ['page of events', '/api/v1/client-api/events/', 'webhook_event', undefined],
])('the statement of a %s is cancelled when its client leaves', async (_, path, table, body) => {
  const release = await holdTable(service, table);
  const leaving = new AbortController();
  const headers = { authorization: `Api-Key ${service.secretKey}`, 'content-type': 'application/json' };
  const method = body ? 'POST' : 'GET';
  const init = { method, headers, signal: leaving.signal, ...(body && { body: JSON.stringify(body) }) };
  const gone = expect(fetch(`${service.url}${path}`, init)).rejects.toThrow('aborted');
  await waitForBlocked(service);
  const began = performance.now();
  leaving.abort();
  await gone;
  await waitForBlocked(service, 0);
  // Otherwise the statement would wait 10 s for the lock.
  expect(performance.now() - began).toBeLessThan(5_000);
  await release();
});
