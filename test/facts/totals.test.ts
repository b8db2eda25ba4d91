// Which facts a round of the totals takes: those of every app that has work, each for its own app, and never two
// processes for one app.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TOTALS_LOCK } from '../../src/db/advisory-locks.ts';
import { countBacklog } from '../../src/facts/backlog.ts';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { refreshMoves, refreshTotals } from '../../src/facts/totals.ts';
import {
  addApp,
  askChart,
  COINS,
  type Home,
  importProfiles,
  importTransactions,
  totalAll,
} from '../analytics/import.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const buy = (home: Home, members: object = {}) => importTransactions(home, [{ ...COINS, ...members }]);

const label = (home: Home, status: string, members: object = {}) =>
  importProfiles(home, [{ customer_user_id: 'u', attribution: { status, ...members } }]);

async function revenueBy(home: Home, segmentation: string, period_unit = 'month'): Promise<Record<string, number>> {
  const { json } = await askChart(home, {
    chart_id: 'revenue',
    segmentation,
    period_unit,
    filters: { date: ['2025-01-01', '2025-01-31'] },
  });
  return Object.fromEntries(
    json.data.revenue.data.map(({ type, value }: { type: string; value: number }) => [type, value]),
  );
}

test('a fact that no longer counts is taken off, even if nothing else of its app is to be totalled', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Taken off' });
  await label(home, 'organic');
  await buy(home);
  await totalAll(db);
  await buy(home, { environment: 'Sandbox' });
  expect(await countBacklog(db)).toMatchObject({ facts_pending: 0, facts_retired: 1 });
  expect(await refreshTotals(db)).toMatchObject({ count: 1 });
  expect(await countBacklog(db)).toMatchObject({ facts_pending: 0, facts_retired: 0 });
});

test('moved facts of several apps are added to the totals of their own apps', async () => {
  const { db } = service.deps;
  const homes = [await addApp(service, { name: 'One' }), await addApp(service, { name: 'Two' })];
  for (const home of homes) {
    await label(home, 'organic');
    await buy(home);
  }
  await totalAll(db);
  for (const home of homes) await label(home, 'non_organic');
  while ((await relabelBatch(db)) > 0);
  expect(await refreshMoves(db, 3)).toMatchObject({ count: 0 });
  expect(await refreshMoves(db, 2)).toMatchObject({ count: 2 });
  for (const home of homes) {
    expect(await revenueBy(home, 'attribution_status')).toEqual({ total: 5, non_organic: 5 });
  }
});

test.each(['month', 'day'])('a moved fact is totalled under every part of its new label, by %s', async (unit) => {
  const { db } = service.deps;
  const home = await addApp(service, { name: `Parts by ${unit}` });
  const parts = ['channel', 'campaign', 'ad_group', 'ad_set', 'creative', 'source'];
  const labelOf = (when: string) => Object.fromEntries(parts.map((part) => [part, `${part} ${when}`]));
  await label(home, 'organic', labelOf('before'));
  await buy(home);
  await totalAll(db);
  await label(home, 'non_organic', labelOf('after'));
  while ((await relabelBatch(db)) > 0);
  await totalAll(db);
  for (const part of parts) {
    const segmentation = `attribution_${part.replace('ad_', 'ad')}`;
    expect(await revenueBy(home, segmentation, unit), part).toEqual({ total: 5, [`${part} after`]: 5 });
  }
});

test('a round over several apps counts the facts of the app that had the most', async () => {
  const { db } = service.deps;
  const homes = [await addApp(service, { name: 'Most' }), await addApp(service, { name: 'Least' })];
  for (const home of homes) {
    await label(home, 'organic');
    await buy(home);
  }
  await buy(homes[0]!, { store_transaction_id: 't2', store_original_transaction_id: 't2' });
  expect(await refreshTotals(db)).toMatchObject({ count: 2 });
  expect(await refreshTotals(db)).toMatchObject({ count: 0 });
});

test('a locked fact is left for later, and the others are totalled', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Held' });
  await label(home, 'organic');
  await buy(home);
  await buy(home, { store_transaction_id: 't2', store_original_transaction_id: 't2' });
  const holder = await db.startTransaction().execute();
  await sql`select from fact_pending where app_key = ${home.app.app_key} limit 1 for update`.execute(holder);
  const meanwhile = refreshTotals(db);
  const first = await Promise.race([meanwhile.then(() => 'totalled'), sleep(5_000, 'waits')]);
  await holder.commit().execute();
  expect([first, (await meanwhile).count]).toEqual(['totalled', 1]);
  expect(await refreshTotals(db)).toMatchObject({ count: 1 });
});

test('a fact that gets a new label before it is totalled is totalled under that label alone', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Early label' });
  await label(home, 'organic');
  await buy(home);
  await label(home, 'non_organic');
  while ((await relabelBatch(db)) > 0);
  await totalAll(db);
  expect(await revenueBy(home, 'attribution_status')).toEqual({ total: 5, non_organic: 5 });
});

test('an app that another process is working on is skipped, and its lock is released afterwards', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Busy' });
  await label(home, 'organic');
  await buy(home);
  const other = await db.startTransaction().execute();
  await sql`select pg_advisory_xact_lock(${TOTALS_LOCK}, ${home.app.app_key})`.execute(other);
  const whileHeld = await refreshTotals(db);
  await other.commit().execute();
  expect(whileHeld).toMatchObject({ count: 0 });
  expect(await refreshTotals(db)).toMatchObject({ count: 1 });
  const { rows } = await sql`
    select from pg_locks join pg_database on pg_database.oid = pg_locks.database
    where locktype = 'advisory' and datname = current_database() and classid::bigint = ${TOTALS_LOCK}`.execute(db);
  expect(rows).toEqual([]);
});
