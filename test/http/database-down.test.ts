// While the database is away (decisions.md 1), requests get 503 with Retry-After. The process stays up and recovers by
// itself.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ATTRIBUTION, post, readRecord } from '../attribution/world.ts';
import { grant } from '../grants/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { type CuttableProxy, createCuttableProxy } from './cuttable.ts';

let proxy: CuttableProxy;
let service: TestService;
let profileId: string;
const lines: string[] = [];
beforeAll(async () => {
  proxy = await createCuttableProxy();
  service = await startService({ throughProxy: proxy.throughProxy, onLog: (line) => lines.push(line) });
  profileId = await addProfile(service, 'anna');
  await addAccessLevel(service, 'premium');
});
afterAll(async () => {
  await service.close();
  await proxy.close();
});

const record = { status: 'organic', customer_user_id: 'anna' };

async function expectServing(): Promise<void> {
  expect(await post(service, record)).toMatchObject({ status: 201 });
  expect(await grant(service, { access_level_id: 'premium' })).toMatchObject({ status: 200 });
  expect(await service.call('GET', '/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
}

beforeEach(expectServing);

test('without a database, operations and readiness answer 503 with Retry-After and health stays; then all is served again', async () => {
  await proxy.cut();
  const responses = [
    await post(service, record),
    await grant(service, { access_level_id: 'premium' }),
    await service.call('GET', '/readyz'),
  ];
  for (const response of responses) {
    expect(response).toMatchObject({
      status: 503,
      json: { error_code: 'service_unavailable', status_code: 503, errors: [{ source: null }] },
    });
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(response.text).not.toMatch(/ECONN|postgres|terminat|127\.0\.0\.1|select|connect/i);
  }
  expect(await service.call('GET', '/healthz')).toMatchObject({ status: 200 });
  expect(await service.call('GET', '/metrics')).toMatchObject({ status: 200 });
  await proxy.mend();
  await expectServing();
});

test("operations and readiness answer 503 while the database refuses the service's connections", async () => {
  const { db } = service.database;
  const allow = (isAllowed: boolean) =>
    sql`update pg_database set datallowconn = ${isAllowed} where datname = current_database()`.execute(db);
  await sql`select 1`.execute(db);
  await allow(false);
  await proxy.cut();
  await proxy.mend();
  const refused = [
    await post(service, record),
    await grant(service, { access_level_id: 'premium' }),
    await service.call('GET', '/readyz'),
  ];
  await allow(true);
  for (const { status, headers } of refused) {
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
  expect(lines.join('')).toContain('not currently accepting connections');
  await expectServing();
});

test('requests that do not need the database are answered while it is away', async () => {
  await proxy.cut();
  expect(await service.call('GET', '/nothing')).toMatchObject({ status: 404 });
  expect(await service.call('GET', ATTRIBUTION)).toMatchObject({ status: 405 });
  await proxy.mend();
});

test('connections that break under load fail only the requests in progress', async () => {
  const campaigns = Array.from({ length: 200 }, (_, i) => `c${i}`);
  const posts = campaigns.map((campaign) => post(service, { ...record, campaign }));
  setTimeout(() => proxy.cut().then(proxy.mend), 20);
  const statuses = new Set((await Promise.all(posts)).map(({ status }) => status));
  expect([...statuses].every((status) => status === 201 || status === 503)).toBe(true);
  await expectServing();
  expect((await readRecord(service, profileId))?.campaign).toBeNull();
});

function readOnly(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  return url.href;
}

test.each<[string, (databaseUrl: string) => string]>([
  ['whose Unix socket does not exist', () => 'postgres:///sps?host=/nowhere'],
  ['that is read-only, as a primary that became a replica', readOnly],
])('a database %s gives 503', async (_, throughProxy) => {
  const other = await startService({ throughProxy });
  try {
    await addProfile(other, 'anna');
    expect(await post(other, record)).toMatchObject({ status: 503, json: { error_code: 'service_unavailable' } });
  } finally {
    await other.close();
  }
});

test('a database whose disk is full gives 503', async () => {
  const { db } = service.database;
  await sql`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$`.execute(db);
  await sql`create trigger refuse before insert on access_grant execute function refuse()`.execute(db);
  expect(await grant(service, { access_level_id: 'premium' })).toMatchObject({
    status: 503,
    json: { error_code: 'service_unavailable' },
  });
  await sql`drop trigger refuse on access_grant`.execute(db);
});

test('the log has the cause of each failure', () => {
  const failures = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed');
  expect(failures.length).toBeGreaterThan(0);
  expect(failures[0]).toMatchObject({
    request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    err: { type: expect.any(String), message: expect.any(String) },
  });
  // There would be thousands of stacks, and where in the driver the failure was noticed says nothing.
  expect(failures.filter(({ err }) => 'stack' in err)).toEqual([]);
});
