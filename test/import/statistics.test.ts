// When a table that an import fills is analyzed.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refreshStatistics } from '../../src/import/statistics.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await sql`alter table label_pending set (autovacuum_enabled = false)`.execute(service.deps.db);
});
afterAll(() => service.close());

async function add(rows: number): Promise<void> {
  await sql`insert into label_pending select 1, gen_random_uuid(), 1, 2 from generate_series(1, ${rows}::integer)`.execute(
    service.deps.db,
  );
  await refreshStatistics(service.deps.db, ['label_pending', 'purchase']);
}

/** What the planner knows: rows of a table at its last analysis, -1 before that. */
async function knownRows(table: string): Promise<number> {
  const { rows } = await sql<{ known: number }>`
    select reltuples::integer as known from pg_class where relname = ${table}`.execute(service.deps.db);
  return rows[0]!.known;
}

test('a table is analyzed when it has more than doubled, whatever the others do', async () => {
  const known: number[] = [];
  for (const rows of [1_000, 500, 1_000, 1_000]) {
    await add(rows);
    known.push(await knownRows('label_pending'));
  }
  expect(known).toEqual([1_000, 1_000, 2_500, 2_500]);
  expect(await knownRows('purchase')).toBe(-1);
});
