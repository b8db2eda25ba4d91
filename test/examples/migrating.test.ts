// docs/migrating.md: its files are imported as they stand, and a moved client finds the aliases and the profile shape.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAccessLevel } from '../../src/apps/service.ts';
import { importFile } from '../../src/import/import-file.ts';
import type { Kind } from '../../src/import/kind.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { startService, type TestService } from '../setup/service.ts';

const GRANT = '/api/v2/server-side-api/purchase/profile/grant/access-level';
const ANALYTICS = '/api/v1/client-api/metrics/analytics';
const PROFILE_ID = '7f1c2f6e-0f5b-4c1d-9a41-1d3c5b7a9e10';

let service: TestService;
let folder: string;
let guide: string;

beforeAll(async () => {
  service = await startService({
    env: { HEADER_ALIASES: 'acme' },
    app: { name: 'Moved', timezone: 'Europe/Berlin', profile_shape: 'array' },
  });
  await addAccessLevel(service.deps, service.appId, 'premium');
  folder = await mkdtemp(join(tmpdir(), 'sps-migrating-'));
  guide = await readFile(new URL('../../docs/migrating.md', import.meta.url), 'utf8');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await service.close();
});

/** Imports the block of the guide that has this format. */
async function importBlock<T>(form: 'ndjson' | 'csv', kind: Kind<T>) {
  const block = guide.split(`\n\`\`\`${form}\n`)[1]?.split('```')[0] ?? '';
  const file = join(folder, `block.${form}`);
  await writeFile(file, block);
  const { database, app, deps } = service;
  return importFile(kind, { connectionString: database.url, app, file, now: deps.now });
}

test('the profiles and transactions of the guide are imported, and a second import changes nothing', async () => {
  expect(await importBlock('ndjson', PROFILES)).toEqual({ read: 2, written: 2, unchanged: 0, rejected: 0 });
  expect(await importBlock('csv', TRANSACTIONS)).toMatchObject({ read: 3, written: 3, unchanged: 0, rejected: 0 });
  expect(await importBlock('ndjson', PROFILES)).toEqual({ read: 2, written: 0, unchanged: 2, rejected: 0 });
  expect(await importBlock('csv', TRANSACTIONS)).toMatchObject({ read: 3, written: 0, unchanged: 3, rejected: 0 });
});

test('a moved backend keeps its headers and the ids of its profiles, and gets arrays', async () => {
  const { status, json } = await service.call('POST', GRANT, {
    key: service.secretKey,
    headers: { 'acme-customer-user-id': 'user-1', 'acme-platform': 'server' },
    body: { access_level_id: 'premium', starts_at: '2024-01-01T00:00:00Z', expires_at: null, sdk: 'old' },
  });
  expect(status).toBe(200);
  expect(json.data).toMatchObject({
    profile_id: PROFILE_ID,
    total_revenue_usd: 10.49,
    custom_attributes: [{ key: 'plan', value: 'gold' }],
    access_levels: [{ access_level_id: 'premium', starts_at: '2024-01-01T00:00:00.000000+0000' }],
    subscriptions: [{ store_product_id: 'monthly', store_transaction_id: '1001' }],
    non_subscriptions: [],
  });
});

test('a moved dashboard keeps its zone header', async () => {
  const body = { chart_id: 'revenue', period_unit: 'day', filters: { date: ['2025-01-04', '2025-01-09'] } };
  const headers = { 'acme-tz': 'Asia/Tokyo' };
  const { json } = await service.call('POST', ANALYTICS, { key: service.secretKey, headers, body });
  const [total] = json.data.revenue.data;
  expect(total.values[0]).toEqual({ x: '2025-01-04T00:00:00.000000+0900', y: 4.99 });
  expect(total.value).toBe(10.49);
});
