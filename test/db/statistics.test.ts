// When a table is analyzed: by an import that fills it, and by every service while it is small.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createDatabaseClock } from '../../src/db/clock.ts';
import { analyzeKeys, analyzeSmallTables } from '../../src/db/statistics.ts';
import { startSweeps } from '../../src/sweeps.ts';
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

/** What the planner knows: rows of a table at its last analysis, -1 before that. */
async function knownRows(table: string): Promise<number> {
  const { rows } = await sql<{ known: number }>`
    select reltuples::integer as known from pg_class where relname = ${table}`.execute(service.deps.db);
  return rows[0]!.known;
}

/** The columns of label_pending that the planner knows something of. */
async function knownColumns(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname::text as name from pg_stats where tablename = 'label_pending' order by 1`.execute(service.deps.db);
  return rows.map(({ name }) => name);
}

const KEYS = ['app_key', 'queue_no'];
const ALL = ['app_key', 'attribution_key', 'earlier_key', 'profile_id', 'queue_no'];

test.each([
  ['of an import', () => analyzeKeys(service.deps.db, ['label_pending', 'purchase']), KEYS],
  ['that is small', () => analyzeSmallTables(service.deps.db), ALL],
])('a table %s is analyzed when it has more than doubled, whatever the others do', async (_, analyze, columns) => {
  const known: number[] = [];
  for (const rows of [1_000, 500, 1_000, 1_000]) {
    await add(rows);
    await analyze();
    known.push(await knownRows('label_pending'));
  }
  expect(known).toEqual([1_000, 1_000, 2_500, 2_500]);
  expect(await knownColumns()).toEqual(columns);
  expect(await knownRows('purchase')).toBe(-1);
});

test('a large table is left to autovacuum', async () => {
  await add(150_000);
  await analyzeSmallTables(service.deps.db);
  expect(await knownRows('label_pending')).toBe(-1);
});

test('a table that somebody holds is passed over, not waited for', async () => {
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
