// Writing about a profile costs the same in an app of any size. This app is small compared with another one: statistics
// do not cover it, so the planner expects a single row for it.
import { sql, type Transaction } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { planningEachTime } from '../../src/db/prepared.ts';
import type { DB } from '../../src/db/types.ts';
import { deriveFacts } from '../../src/facts/derive.ts';
import { hiddenApp } from '../../src/facts/hidden-app.ts';
import { writeInstalls } from '../../src/facts/installs.ts';
import { removeProfile } from '../../src/profile/removal.ts';
import { STAGED_COLUMNS } from '../../src/purchases/columns.ts';
import { type Chain, chainRelation, writeTransactions } from '../../src/purchases/write.ts';
import { addApp, type Home, importProfiles, importTransactions } from '../analytics/import.ts';
import { startService, type TestService } from '../setup/service.ts';

const LARGE = 2_000;
/** So few that imports and services do not analyze tables for the app (src/db/statistics.ts). */
const SMALL = 400;
const TABLES = [
  'profile',
  'profile_identity',
  'profile_attribution',
  'fact_install',
  'fact_transaction',
  'purchase',
  'purchase_chain',
];

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
  // Gives writeInstalls something to change.
  await sql`update profile set installed_at = '2025-02-27' where app_id = ${small.app.app_id}`.execute(db);
});
afterAll(() => service.close());

/** Picks profiles of the small app. */
async function pick(count: number): Promise<string[]> {
  const profiles = await service.database.db
    .selectFrom('profile')
    .select('profile_id')
    .where('app_id', '=', small.app.app_id)
    .orderBy('profile_id')
    .limit(count)
    .execute();
  return profiles.map(({ profile_id }) => profile_id);
}

/** Counts the rows that the work reads of each table and returns the largest count. The work is rolled back. */
async function countReads(work: (trx: Transaction<DB>) => Promise<void>, tables = TABLES): Promise<number> {
  const reads = sql<{ count: number }>`
    select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as count
    from pg_stat_xact_user_tables where relname = any(${tables}) order by relname`;
  const trx = await service.database.db.startTransaction().execute();
  const { rows: before } = await reads.execute(trx);
  await work(trx);
  const { rows: after } = await reads.execute(trx);
  await trx.rollback().execute();
  return Math.max(...after.map(({ count }, i) => count - before[i]!.count));
}

test.each([1, 5])('the installs of %i profiles are written without reading those of other profiles', async (count) => {
  const ids = await pick(count);
  const reads = await countReads((trx) =>
    writeInstalls(planningEachTime(trx), small.app, sql`(select unnest(${ids}::uuid[]) as profile_id)`),
  );
  expect(reads).toBeGreaterThanOrEqual(count);
  expect(reads).toBeLessThan(SMALL);
});

test('an unchanged install draws no new number: charts count payers by pages of these numbers', async () => {
  const ids = await pick(5);
  const trx = await service.database.db.startTransaction().execute();
  const write = () =>
    writeInstalls(planningEachTime(trx), small.app, sql`(select unnest(${ids}::uuid[]) as profile_id)`);
  const readNumber = async () => {
    const { rows } = await sql<{
      number: bigint;
    }>`select last_value as number from fact_install_profile_no_seq`.execute(trx);
    return Number(rows[0]?.number);
  };
  const before = await readNumber();
  await write();
  const changed = await readNumber();
  await write();
  expect([changed, await readNumber()]).toEqual([before + 5, before + 5]);
  await trx.rollback().execute();
});

/** Picks chains of the small app. */
function pickChains(count: number): Promise<Chain[]> {
  const { db } = service.database;
  const bought = db.selectFrom('purchase').select(['profile_id', 'store', 'store_original_transaction_id']);
  return bought.where('app_id', '=', small.app.app_id).orderBy('profile_id').limit(count).execute();
}

/** A part of a statement: the transactions `p` of chains of the small app. */
function purchasesOf(chains: readonly Chain[]) {
  return sql`${hiddenApp(small.app)} cross join ${chainRelation(chains)} c cross join lateral (
    select ctid, * from purchase where app_id = app.app_id and profile_id = c.profile_id offset 0) p`;
}

test.each([1, 5])('the facts of %i chains are derived, and removed, without reading other facts', async (count) => {
  const chains = await pickChains(count);
  const reads = await countReads(async (trx) => {
    const execute = planningEachTime(trx);
    await deriveFacts(execute, small.app, chainRelation(chains));
    await sql`update purchase set environment = 'Sandbox' from ${purchasesOf(chains)} where purchase.ctid = p.ctid`.execute(
      trx,
    );
    await deriveFacts(execute, small.app, chainRelation(chains));
  });
  expect(reads).toBeGreaterThanOrEqual(count);
  expect(reads).toBeLessThan(10 * count);
});

test.each([1, 5])('%i transactions that changed are written without reading other transactions', async (count) => {
  const chains = await pickChains(count);
  const columns = STAGED_COLUMNS.map(([name]) => {
    if (name === 'position') return sql`0::bigint as position`;
    return name === 'variation_id' ? sql`'b' as variation_id` : sql.ref(`p.${name}`);
  });
  const staged = sql`(select ${sql.join(columns)} from ${purchasesOf(chains)})`;
  const reads = await countReads(async (trx) => {
    const { written } = await writeTransactions(planningEachTime(trx), small.app, staged);
    expect(written).toBe(count);
  });
  expect(reads).toBeLessThan(15 * count);
});

test('a profile is removed without reading other profiles', async () => {
  const [id] = await pick(1);
  const reads = await countReads((trx) => removeProfile(trx, small.app, id!));
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(10);
});

test('the country of a profile and of a transaction is found by its key, not searched for', async () => {
  const [id] = await pick(1);
  const reads = await countReads(
    async (trx) => {
      const execute = planningEachTime(trx);
      await writeInstalls(execute, small.app, sql`(select ${id}::uuid as profile_id)`);
      const chains = sql`(select profile_id, store, store_original_transaction_id from purchase where profile_id = ${id})`;
      await deriveFacts(execute, small.app, chains);
    },
    ['dim_country'],
  );
  expect(reads).toBe(2);
});
