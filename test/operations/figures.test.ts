// The database's figures at /metrics, and checks of docs/grafana.json: its metrics exist, its panels explain themselves.
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { post } from '../attribution/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';

let service: TestService;
let now = new Date('2025-01-01T00:00:00Z');
beforeAll(async () => {
  service = await startService({ now: () => now, env: { MAX_LOOP_DELAY_MS: '0' } });
  await addProfile(service, 'anna');
});
afterAll(() => service.close());

async function read(name: string): Promise<number> {
  const { text } = await service.call('GET', '/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1));
}

test('pending facts are counted, and for how long totals have been behind, even if new facts always arrive', async () => {
  const { db } = service.database;
  const figures = async () => [await read('sps_totals_pending'), await read('sps_totals_behind_seconds')];
  const add = (from: number, to: number) =>
    sql`insert into fact_pending (app_key, profile_id, purchase_no)
      select ${service.app.app_key}::int, gen_random_uuid(), g from generate_series(${from}::int, ${to}::int) g`.execute(
      db,
    );
  const passMinute = () => {
    now = new Date(now.getTime() + 60_000);
  };
  expect(await figures()).toEqual([0, 0]);
  await add(1, 3);
  passMinute();
  expect(await figures()).toEqual([3, 0]);
  passMinute();
  await add(4, 4);
  expect(await figures()).toEqual([4, 60]);
  await sql`delete from fact_pending where purchase_no < 4`.execute(db);
  passMinute();
  expect(await figures()).toEqual([1, 0]);
  passMinute();
  expect(await figures()).toEqual([1, 60]);
  now = new Date(now.getTime() - 3_600_000);
  expect(await figures(), 'after a step back of the clock').toEqual([1, 0]);
  passMinute();
  expect(await figures()).toEqual([1, 60]);
  // Another server may number its transactions differently, so what was seen on the previous one no longer counts.
  const { serverRun } = service.deps;
  service.deps.serverRun = { number: serverRun.number + 1 };
  expect(await figures()).toEqual([1, 0]);
  service.deps.serverRun = serverRun;
  await sql`delete from fact_pending`.execute(db);
  expect(await figures()).toEqual([0, 0]);
});

test('attributions in groups are counted, and so are their pending labels', async () => {
  const before = await read('sps_attribution_group_size_sum');
  await Promise.all(
    Array.from({ length: 5 }, () => post(service, { status: 'organic', customer_user_id: 'anna', campaign: 'x' })),
  );
  expect((await read('sps_attribution_group_size_sum')) - before).toBe(5);
  expect(await read('sps_labels_pending')).toBe(1);
});

test('pools report their connections and how many wait for one', async () => {
  const { text } = await service.call('GET', '/metrics');
  expect(text).toMatch(/^sps_pool_connections\{pool="sps-test",state="idle"\} \d+/m);
  expect(text).toMatch(/^sps_pool_connections_max\{pool="sps-test"\} [1-9]/m);
  expect(text).toMatch(/^sps_pool_waiting\{pool="sps-test"\} 0/m);
});

test('every metric that the dashboard names exists', async () => {
  const { text } = await service.call('GET', '/metrics');
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  const dashboard = readFileSync('docs/grafana.json', 'utf8');
  const named = new Set(dashboard.match(/\b(sps|nodejs|process)_[a-z0-9_]+/g));
  expect(named.size).toBeGreaterThan(15);
  const exists = (name: string) =>
    types.has(name) || types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram';
  expect([...named].filter((name) => !exists(name))).toEqual([]);
  const own = [...types.keys()].filter((name) => name?.startsWith('sps_'));
  expect(own.filter((name) => !dashboard.includes(name as string))).toEqual([]);
});

test('every panel of the dashboard says what it shows and when to worry', () => {
  const { panels } = JSON.parse(readFileSync('docs/grafana.json', 'utf8'));
  expect(panels.length).toBeGreaterThan(15);
  for (const { title, description } of panels) expect(description, title).toMatch(/worry .+\.$/);
});
