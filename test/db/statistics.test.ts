// When a table is analyzed: by an import that fills it, and by every service while it is small.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { createDatabaseClock } from '../../src/db/clock.ts';
import { analyzeApps, analyzeKeys, analyzeSmallTables } from '../../src/db/statistics.ts';
import { startSweeps } from '../../src/sweeps.ts';
import { addApp, importProfiles } from '../analytics/import.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await sql`alter table label_pending set (autovacuum_enabled = false)`.execute(service.deps.db);
});
afterAll(() => service.close());

beforeEach(() => sql`truncate label_pending`.execute(service.deps.db));

async function add(rows: number): Promise<void> {
  await sql`insert into label_pending select 1, gen_random_uuid(), 1, 2 from generate_series(1, ${rows}::integer)`.execute(
    service.deps.db,
  );
}

/** Returns how many rows the planner believes a table has: those at its last analysis, or -1 before the first. */
async function knownRows(table: string): Promise<number> {
  const { rows } = await sql<{ known: number }>`
    select reltuples::integer as known from pg_class where relname = ${table}`.execute(service.deps.db);
  return rows[0]!.known;
}

/** Returns the columns of label_pending for which the planner has statistics. */
async function knownColumns(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname::text as name from pg_stats where tablename = 'label_pending' order by 1`.execute(service.deps.db);
  return rows.map(({ name }) => name);
}

const KEYS = ['app_key', 'queue_no'];
const ALL = ['app_key', 'attribution_key', 'earlier_key', 'profile_id', 'queue_no'];

test.each([
  ['of an import', 4, () => analyzeKeys(service.deps.db, ['label_pending', 'purchase']), KEYS],
  ['that is small', 2, () => analyzeSmallTables(service.deps.db), ALL],
])(
  'a table %s is analyzed once it has grown to more than %i times its size, whatever the others do',
  async (_, times, analyze, columns) => {
    const known: number[] = [];
    for (const rows of [1_000, 500 * (times - 1), 500 * times, 1_000]) {
      await add(rows);
      await analyze();
      known.push(await knownRows('label_pending'));
    }
    const grown = 1_000 + 500 * (2 * times - 1);
    expect(known).toEqual([1_000, 1_000, grown, grown]);
    expect(await knownColumns()).toEqual(columns);
    expect(await knownRows('purchase')).toBe(-1);
  },
);

test('a large table is left to autovacuum', async () => {
  await add(150_000);
  await analyzeSmallTables(service.deps.db);
  expect(await knownRows('label_pending')).toBe(-1);
});

test('tables of another schema are left alone', async () => {
  const { db } = service.deps;
  await sql`create schema other`.execute(db);
  await sql`create table other.theirs as select generate_series(1, 1000)`.execute(db);
  await expect(analyzeSmallTables(db)).resolves.toBeUndefined();
  await sql`drop schema other cascade`.execute(db);
});

test('a locked table is skipped, not waited for', async () => {
  await add(1_000);
  const holder = await service.database.db.startTransaction().execute();
  await sql`lock table label_pending in share update exclusive mode`.execute(holder);
  await analyzeSmallTables(service.deps.db);
  await analyzeKeys(service.deps.db, ['label_pending']);
  expect(await knownRows('label_pending')).toBe(-1);
  await holder.rollback().execute();
});

test('a service analyzes small tables by itself', async () => {
  await add(1_000);
  const sweeps = startSweeps(service.deps, createDatabaseClock(service.deps.db));
  await vi.waitFor(async () => expect(await knownRows('label_pending')).toBe(1_000), 10_000);
  await sweeps.stop();
});

describe('an app next to another one', () => {
  let apps: number[];
  beforeAll(async () => {
    const { app } = await createApp(service.deps, { name: 'Other' });
    apps = [service.app.app_key, app.app_key];
  });

  async function addOf(appKey: number, rows: number): Promise<void> {
    await sql`insert into label_pending select ${appKey}, gen_random_uuid(), 1, 2 from generate_series(1, ${rows}::integer)`.execute(
      service.deps.db,
    );
  }

  /** Returns the apps of label_pending that the planner knows about. */
  async function knownApps(): Promise<number[]> {
    const { rows } = await sql<{ known: number[] }>`
      select most_common_vals::text::integer[] as known from pg_stats
      where tablename = 'label_pending' and attname = 'app_key'`.execute(service.deps.db);
    return rows[0]!.known.toSorted((a, b) => a - b);
  }

  /** Gives the first app 2,000 rows that the planner knows about. */
  async function prepare(): Promise<void> {
    await addOf(apps[0]!, 2_000);
    await sql`analyze label_pending`.execute(service.deps.db);
  }

  test.each([
    [499, {}, 1],
    [500, {}, 2],
    [500, { tables: ['label_pending'] as const }, 2],
    [500, { tables: ['purchase'] as const }, 1],
  ])('with %i rows and an analysis of %j: the planner knows %i of both apps', async (rows, which, known) => {
    await prepare();
    await addOf(apps[1]!, rows);
    await analyzeApps(service.deps.db, which);
    expect(await knownApps()).toEqual(apps.slice(0, known));
  });

  test('is looked for alone if it is named', async () => {
    await prepare();
    await addOf(apps[1]!, 1_000);
    await analyzeApps(service.deps.db, { appKey: apps[0]! });
    expect(await knownApps()).toEqual(apps.slice(0, 1));
    await analyzeApps(service.deps.db, { appKey: apps[1]! });
    expect(await knownApps()).toEqual(apps);
  });

  test('needs enough rows for a sample to have some of them', async () => {
    await prepare();
    await sql`update pg_class set reltuples = 3e6 where relname = 'label_pending'`.execute(service.deps.db);
    await addOf(apps[1]!, 999);
    await analyzeApps(service.deps.db);
    expect(await knownApps()).toEqual(apps.slice(0, 1));
    await addOf(apps[1]!, 1);
    await analyzeApps(service.deps.db);
    expect(await knownApps()).toEqual(apps);
  });

  test('is not looked for if the planner expects as many rows of any other app: among many alike the search would never end', async () => {
    await prepare();
    await sql`insert into label_pending select 1000 + n % 120, gen_random_uuid(), 1, 2 from generate_series(1, 72000) n`.execute(
      service.deps.db,
    );
    await sql`analyze label_pending`.execute(service.deps.db);
    await addOf(apps[1]!, 1_200);
    await analyzeApps(service.deps.db);
    expect(await knownApps()).not.toContain(apps[1]);
  });

  test('becomes known by a service, and by an import into it', async () => {
    await prepare();
    await addOf(apps[1]!, 1_000);
    const sweeps = startSweeps(service.deps, createDatabaseClock(service.deps.db));
    await vi.waitFor(async () => expect(await knownApps()).toEqual(apps), 10_000);
    await sweeps.stop();

    const profiles = Array.from({ length: 1_000 }, (_, i) => ({
      customer_user_id: `u${i}`,
      installed_at: '2025-03-01T00:00:00Z',
    }));
    await importProfiles(service, [
      ...profiles,
      ...profiles.map((one) => ({ ...one, customer_user_id: `${one.customer_user_id}-` })),
    ]);
    await sql`analyze profile`.execute(service.deps.db);
    const other = await addApp(service, { name: 'Third' });
    await importProfiles(other, profiles.slice(0, 600));
    const { rows } = await sql<{ known: string[] }>`
      select most_common_vals::text::text[] as known from pg_stats where tablename = 'profile' and attname = 'app_id'`.execute(
      service.deps.db,
    );
    expect(rows[0]!.known).toEqual([service.app.app_id, other.app.app_id]);
  });

  test('stays unknown if the table is locked, and nobody waits', async () => {
    await prepare();
    await addOf(apps[1]!, 1_000);
    const holder = await service.database.db.startTransaction().execute();
    await sql`lock table label_pending in share update exclusive mode`.execute(holder);
    await analyzeApps(service.deps.db);
    await holder.rollback().execute();
    expect(await knownApps()).toEqual(apps.slice(0, 1));
  });
});
