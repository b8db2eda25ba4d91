// An app that is small beside another one: statistics know nothing of it, and the planner takes all its rows for a single one.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeInstalls } from '../../src/facts/installs.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addApp, type Home, importProfiles, importTransactions } from './import.ts';

const LARGE = 2_000;
const SMALL = 500;
const TABLES = ['profile', 'profile_attribution', 'fact_install', 'fact_transaction'];

function profilesOf(count: number): object[] {
  const installed_at = '2025-03-01T00:00:00Z';
  const attribution = { status: 'non_organic', channel: 'search' };
  return Array.from({ length: count }, (_, i) => ({ customer_user_id: `user-${i}`, installed_at, attribution }));
}

function transactionsOf(count: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    customer_user_id: `user-${i}`,
    purchase_type: 'one_time_purchase',
    store: 'app_store',
    store_product_id: 'pack',
    store_transaction_id: `t-${i}`,
    store_original_transaction_id: `t-${i}`,
    price: { country: 'US', currency: 'USD', value: 1 },
    purchased_at: '2025-03-02T00:00:00Z',
  }));
}

let service: TestService;
let small: Home;
beforeAll(async () => {
  service = await startService();
  const { db } = service.database;
  for (const table of TABLES) {
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(db);
  }
  await importProfiles(service, profilesOf(LARGE));
  await importTransactions(service, transactionsOf(LARGE));
  await sql`analyze`.execute(db);
  small = await addApp(service, { name: 'Small' });
  await importProfiles(small, profilesOf(SMALL));
  await importTransactions(small, transactionsOf(SMALL));
});
afterAll(() => service.close());

/** The most rows of a table that writing the installs of so many profiles of the small app reads. */
async function countReads(profiles: number): Promise<number> {
  const { db } = service.database;
  const { app_id } = small.app;
  const named = await db
    .selectFrom('profile')
    .select('profile_id')
    .where('app_id', '=', app_id)
    .orderBy('profile_id')
    .limit(profiles)
    .execute();
  return db.transaction().execute(async (trx) => {
    await sql`update profile set installed_at = '2025-02-27' where app_id = ${app_id}`.execute(trx);
    const read = sql<{ name: string; count: number }>`
      select relname as name, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as count
      from pg_stat_xact_user_tables where relname = any(${TABLES}) order by relname`;
    const { rows: before } = await read.execute(trx);
    const ids = named.map(({ profile_id }) => profile_id);
    await writeInstalls(trx, small.app, sql`(select unnest(${ids}::uuid[]) as profile_id)`);
    const { rows: after } = await read.execute(trx);
    return Math.max(...after.map(({ count }, i) => count - before[i]!.count));
  });
}

test.each([1, 20])('the installs of %i profiles are written without reading those of the others', async (profiles) => {
  const reads = await countReads(profiles);
  expect(reads).toBeGreaterThanOrEqual(profiles);
  expect(reads).toBeLessThanOrEqual(4 * profiles);
});
