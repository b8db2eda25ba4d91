// A database that is read-only for a while, as before a switch to another server: its sessions keep the setting with
// which they began.
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
let admin: pg.Client;
beforeAll(async () => {
  service = await startService();
  admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await service.close();
});

/** Returns the statuses of two writing operations and of the readiness probe. */
async function statuses(): Promise<number[]> {
  const { publicKey, secretKey } = service;
  const responses = await Promise.all([
    service.call('POST', '/api/v2/server-side-api/profile/', {
      key: secretKey,
      headers: { 'service-customer-user-id': 'ada' },
      body: { country: 'US' },
    }),
    service.call('POST', '/api/v2/web-api/attribution/', {
      key: publicKey,
      body: { status: 'organic', customer_user_id: 'ada' },
    }),
    service.call('GET', '/readyz'),
  ]);
  return responses.map(({ status }) => status);
}

test('a database is written to again when it is no longer read-only, even if its connections are never idle', async () => {
  await statuses();
  expect(await statuses()).toEqual([200, 201, 200]);
  const name = new URL(service.database.url).pathname.slice(1);
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  const soon = { timeout: 10_000, interval: 50 };
  await vi.waitFor(async () => expect(await statuses()).toEqual([503, 503, 503]), soon);
  await admin.query(`alter database ${name} reset default_transaction_read_only`);
  await vi.waitFor(async () => expect(await statuses()).toEqual([200, 201, 200]), soon);
});
