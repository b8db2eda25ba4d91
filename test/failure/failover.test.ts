// While the service runs, a standby takes over that lacks the last transactions: what the service remembers of these
// must no longer count.

import pino from 'pino';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { loadConfig } from '../../src/config.ts';
import { type Service, startService } from '../../src/service.ts';
import { type RestartableServer, startRestartableServer } from './webhooks-postgres.ts';

const CUSTOMER = { 'service-customer-user-id': 'ada' };
const DAYS = ['2025-02-01', '2025-02-28'];

let server: RestartableServer;
let service: Service;
let keys: { public_key: string; secret_key: string };

beforeAll(async () => {
  server = await startRestartableServer();
  const config = loadConfig({ DATABASE_URL: server.url, PORT: '0', HOST: '127.0.0.1' });
  service = await startService(config, pino({ level: 'silent' }), new AbortController().signal);
  keys = await createApp(service.deps, { name: 'Failover' });
});

afterAll(async () => {
  await service.stop();
  await server.stop();
});

/** Retries until the request succeeds, because connections to a server that is gone fail once. */
function post(path: string, key: string, body: object, headers: Record<string, string> = {}) {
  return vi.waitFor(
    async () => {
      const response = await request(`${service.baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization: `Api-Key ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const text = await response.body.text();
      expect(response.statusCode, text).toBeLessThan(300);
      return text === '' ? undefined : JSON.parse(text);
    },
    { timeout: 30_000, interval: 100 },
  );
}

const addProfile = () =>
  post('/api/v2/server-side-api/profile/', keys.secret_key, { installed_at: '2025-01-01T00:00:00Z' }, CUSTOMER);

const attribute = () =>
  post('/api/v2/web-api/attribution/', keys.public_key, {
    status: 'non_organic',
    channel: 'social',
    customer_user_id: 'ada',
  });

const buy = (id: string, value: number) =>
  post(
    '/api/v2/server-side-api/purchase/set/transaction/',
    keys.secret_key,
    {
      purchase_type: 'one_time_purchase',
      store: 'stripe',
      store_product_id: 'coins',
      store_transaction_id: id,
      store_original_transaction_id: id,
      price: { country: 'US', currency: 'USD', value },
      purchased_at: '2025-02-03T00:00:00Z',
    },
    CUSTOMER,
  );

async function revenueByChannel(): Promise<Record<string, number>> {
  const question = { chart_id: 'revenue', segmentation: 'attribution_channel', filters: { date: DAYS } };
  const { data } = await post('/api/v1/client-api/metrics/analytics/', keys.secret_key, question);
  const series: { type: string; values: { y: number }[] }[] = data.revenue.data;
  return Object.fromEntries(series.map(({ type, values }) => [type, values.reduce((sum, { y }) => sum + y, 0)]));
}

it('a label that was lost is written again, and no kept answer brings back a purchase that was lost', async () => {
  await addProfile();
  const takeOver = await server.keep();
  await attribute();
  await buy('lost', 10);
  expect(await revenueByChannel()).toEqual({ total: 10, social: 10 });
  await takeOver();
  await attribute();
  await buy('later', 3);
  expect(await revenueByChannel()).toEqual({ total: 3, social: 3 });
});
