// The background work on facts: if one app or month makes it fail, it is still done for the others.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { countBacklog } from '../../src/facts/backlog.ts';
import { createFailedMonths } from '../../src/facts/column-groups.ts';
import { refreshColumns, tidyColumns } from '../../src/facts/columns.ts';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { refreshTotals } from '../../src/facts/totals.ts';
import { startUpkeep } from '../../src/facts/upkeep.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addApp, askChart, type Home, importProfiles, importTransactions, totalAll } from './import.ts';

let service: TestService;
/** The app whose totals cannot be written. */
let broken: Home;
let other: Home;

/** One-time purchases in January 2025. */
function coins(): object[] {
  return ['t0', 't1', 't2'].map((id) => ({
    customer_user_id: 'u',
    purchase_type: 'one_time_purchase',
    store: 'stripe',
    store_product_id: 'coins',
    store_transaction_id: id,
    store_original_transaction_id: id,
    price: { country: 'US', currency: 'USD', value: 5 },
    purchased_at: '2025-01-10T00:00:00Z',
  }));
}

function labelled(status: string): object[] {
  return [{ customer_user_id: 'u', installed_at: '2025-01-02T00:00:00Z', attribution: { status } }];
}

beforeAll(async () => {
  service = await startService();
  broken = await addApp(service, { name: 'Broken' });
  other = await addApp(service, { name: 'Other' });
  for (const home of [broken, other]) {
    await importProfiles(home, labelled('organic'));
    await importTransactions(home, coins());
  }
  const isOther = sql`app_key <> ${sql.lit(broken.app.app_key)}`;
  await sql`alter table fact_total add constraint not_of_this_app check (${isOther})`.execute(service.deps.db);
});
afterAll(() => service.close());

async function revenueOf(home: Home): Promise<number> {
  const { json } = await askChart(home, { filters: { date: ['2025-01-01', '2025-01-31'] } });
  return json.data.revenue.value;
}

test('an app whose totals fail does not delay those of other apps, and its charts are exact', async () => {
  await expect(refreshTotals(service.deps.db)).rejects.toThrow('not_of_this_app');
  expect(await countBacklog(service.deps.db)).toMatchObject({ facts_pending: 3 });
  expect(await revenueOf(broken)).toBe(15);
  expect(await revenueOf(other)).toBe(15);
});

test('an app whose totals fail does not keep labels from reaching facts and totals', async () => {
  await importProfiles(other, labelled('non_organic'));
  const upkeep = startUpkeep(service.deps);
  const done = { facts_pending: 3, facts_retired: 0, facts_moved: 0, labels_pending: 0 };
  await vi.waitFor(async () => expect(await countBacklog(service.deps.db)).toEqual(done), 10_000);
  await upkeep.stop();
});

test('an app whose labels change all the time does not delay the labels of other apps', async () => {
  const { db } = service.deps;
  const profiles = Array.from({ length: 5 }, (_, i) => ({
    customer_user_id: `u${i}`,
    installed_at: '2025-01-02T00:00:00Z',
  }));
  const labelledAs = (status: string, count: number) =>
    profiles.slice(0, count).map((one) => ({ ...one, attribution: { status } }));
  const busy = await addApp(service, { name: 'Busy' });
  await importProfiles(busy, labelledAs('organic', 5));
  const quiet = await addApp(service, { name: 'Quiet' });
  await importProfiles(quiet, labelledAs('organic', 1));
  await importProfiles(busy, labelledAs('non_organic', 5));
  await importProfiles(quiet, labelledAs('non_organic', 1));
  const { rows } = await sql`select app_key from label_pending order by app_key`.execute(db);
  expect(rows).toHaveLength(6);
  const turn = { after: 0, hasMore: false };
  expect(await relabelBatch(db, 2, turn)).toBe(2);
  expect(await relabelBatch(db, 2, turn)).toBe(2);
  const left = await sql<{ app_key: number }>`select app_key from label_pending`.execute(db);
  expect(left.rows.map(({ app_key }) => app_key)).toEqual([1, 2].map(() => busy.app.app_key));
});

test('an app whose facts cannot be relabelled delays neither the labels nor the totals of other apps', async () => {
  const { db } = service.deps;
  const [stuck, well] = [await addApp(service, { name: 'Stuck' }), await addApp(service, { name: 'Well' })];
  for (const home of [stuck, well]) {
    await importProfiles(home, labelled('organic'));
    await importTransactions(home, coins());
    await totalAll(db).catch(() => undefined);
  }
  const isOther = sql`app_key <> ${sql.lit(stuck.app.app_key)}`;
  await sql`alter table fact_moved add constraint not_of_that_app check (${isOther}) not valid`.execute(db);
  for (const home of [stuck, well]) await importProfiles(home, labelled('non_organic'));
  const backlogOf = async ({ app }: Home) => {
    const { rows } = await sql<{ labels: number; moved: number }>`
      select (select count(*)::integer from label_pending where app_key = ${app.app_key}) as labels,
        (select count(*)::integer from fact_moved where app_key = ${app.app_key}) as moved`.execute(db);
    return rows[0];
  };
  const upkeep = startUpkeep(service.deps);
  await vi.waitFor(async () => expect(await backlogOf(well)).toEqual({ labels: 0, moved: 0 }), 10_000);
  await upkeep.stop();
  expect(await backlogOf(stuck)).toEqual({ labels: 1, moved: 0 });
  expect(await revenueOf(stuck)).toBe(15);
});

test('a round that has used up its time leaves the remaining apps to the next round, which begins with them', async () => {
  const { db } = service.deps;
  const homes = [await addApp(service, { name: 'First' }), await addApp(service, { name: 'Second' })];
  for (const home of homes) {
    await importProfiles(home, labelled('organic'));
    await importTransactions(home, coins());
  }
  const listPendingApps = async () => {
    const { rows } = await sql<{ app_key: number }>`
      select distinct app_key from fact_pending where app_key <> ${broken.app.app_key} order by 1`.execute(db);
    return rows.map(({ app_key }) => app_key);
  };
  const [first, second] = homes.map(({ app }) => app.app_key) as [number, number];
  // The update moves its row behind that of the second in the table.
  await sql`update app set name = name where app_key = ${first}`.execute(db);
  const round = { after: broken.app.app_key, hasMore: false, maxMs: 0 };
  await refreshTotals(db, 1, round);
  expect([await listPendingApps(), round]).toEqual([[first, second], { after: first, hasMore: true, maxMs: 0 }]);
  await refreshTotals(db, 3, round);
  expect([await listPendingApps(), round]).toEqual([[first], { after: second, hasMore: true, maxMs: 0 }]);
  await refreshTotals(db, 3, { ...round, after: broken.app.app_key });
  expect(await listPendingApps()).toEqual([]);
  // The last round leaves no app out.
  await expect(refreshTotals(db, 3, round)).rejects.toThrow('not_of_this_app');
  expect(round.hasMore).toBe(false);
});

test('columns with many appended changes are rebuilt when the process is idle for a while, and answer the same', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Columns' });
  const refresh = async () => {
    await totalAll(db).catch(() => undefined);
    await refreshColumns(db, { minFacts: 1, minChanges: 1, maxAppended: 3 });
  };
  await importProfiles(home, labelled('organic'));
  await importTransactions(home, coins());
  await refresh();
  await importTransactions(
    home,
    coins().map((coin) => ({ ...coin, price: { country: 'US', currency: 'USD', value: 7 } })),
  );
  await refresh();
  const readMonth = async () => {
    const { rows } = await sql<{ facts: number; appended: number; groups: number }>`
      select facts, appended, (select count(*)::integer from fact_column_chunk c
        where c.app_key = m.app_key and c.month = m.month and c.name = 'kind') as groups
      from fact_column_month m where app_key = ${home.app.app_key}`.execute(db);
    return rows;
  };
  /** Asks until a different day each time, because a kept answer would prove nothing. */
  const americanUntil = async (day: string) => {
    const { json } = await askChart(home, { filters: { date: ['2025-01-01', day], country: ['US'] } });
    return json.data.revenue.value;
  };
  expect(await readMonth()).toEqual([{ facts: 3, appended: 6, groups: 2 }]);
  expect(await americanUntil('2025-01-31')).toBe(21);
  const began = startUpkeep(service.deps);
  await sleep(1_000);
  await began.stop();
  expect(await readMonth()).toEqual([{ facts: 3, appended: 6, groups: 2 }]);

  const upkeep = startUpkeep(service.deps, { busy: 1, stretchMs: 0 });
  await vi.waitFor(async () => expect(await readMonth()).toEqual([{ facts: 3, appended: 0, groups: 1 }]), 10_000);
  await upkeep.stop();
  expect(await americanUntil('2025-01-30')).toBe(21);
});

const coinAt = (id: string, purchased_at: string) => ({
  ...coins()[0],
  store_transaction_id: id,
  store_original_transaction_id: id,
  purchased_at,
});

/** Gives months columns of one fact each, then changes each fact, so that its change is appended to them. */
async function appendTo(home: Home, months: readonly string[]): Promise<void> {
  const { db } = service.deps;
  await importProfiles(home, labelled('organic'));
  for (const value of [5, 7]) {
    const price = { country: 'US', currency: 'USD', value };
    const coinOf = (month: string) => ({ ...coinAt(month, `${month}-10T00:00:00Z`), price });
    await importTransactions(home, months.map(coinOf));
    await totalAll(db).catch(() => undefined);
    while ((await refreshColumns(db, ANY_MONTH)) > 0);
  }
}

const ANY_MONTH = { minFacts: 1, minChanges: 1, maxAppended: 3 };

/** Returns, for each month of an app in order, how much has been appended since its columns were built. */
async function listAppended({ app }: Home): Promise<number[]> {
  const { rows } = await sql<{ appended: number }>`
    select appended from fact_column_month where app_key = ${app.app_key} order by month`.execute(service.deps.db);
  return rows.map(({ appended }) => appended);
}

test('columns, which would soon change again, wait until nearly all facts of their own app are totalled', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Filling' });
  await appendTo(home, ['2025-01']);
  const wait = ({ app }: Home, count: number) =>
    sql`insert into fact_pending (app_key, profile_id, purchase_no)
      select ${app.app_key}, gen_random_uuid(), n from generate_series(1, ${count}::integer) n`.execute(db);
  const leave = ({ app }: Home, count: number) =>
    sql`delete from fact_pending where app_key = ${app.app_key} and purchase_no > ${count}`.execute(db);
  await wait(other, 10_000);
  await wait(home, 10_000);
  expect(await tidyColumns(db)).toBe(0);
  await leave(home, 9_999);
  expect(await tidyColumns(db)).toBe(1);
  expect(await listAppended(home)).toEqual([0]);
  await leave(home, 0);
  await leave(other, 0);
});

test('a month whose columns cannot be built is left alone for a while, and the next month of its app gets its own', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'January fails' });
  await importProfiles(home, labelled('organic'));
  await importTransactions(home, [
    coinAt('a', '2025-01-10T00:00:00Z'),
    coinAt('b', '2025-01-11T00:00:00Z'),
    coinAt('c', '2025-02-10T00:00:00Z'),
  ]);
  await totalAll(db).catch(() => undefined);
  const isPossible = sql`app_key <> ${sql.lit(home.app.app_key)} or month <> date '2025-01-01' - date '1970-01-01'`;
  await sql`alter table fact_column_chunk add constraint no_january check (${isPossible}) not valid`.execute(db);
  try {
    for (let i = 0; i < 2; i++) await expect(refreshColumns(db, ANY_MONTH)).rejects.toThrow('no_january');
    expect(await listAppended(home)).toEqual([]);
    const failed = createFailedMonths();
    await expect(refreshColumns(db, ANY_MONTH, failed)).rejects.toThrow('no_january');
    expect([...failed.keys()].map((month) => failed.getRemainingTTL(month) > 50_000)).toEqual([true]);
    expect(await refreshColumns(db, ANY_MONTH, failed)).toBe(1);
    expect(await listAppended(home)).toEqual([0]);
  } finally {
    await sql`alter table fact_column_chunk drop constraint no_january`.execute(db);
  }
});

test('a month whose columns cannot be rebuilt delays no other month, whichever comes first', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Three months' });
  await appendTo(home, ['2025-01', '2025-02', '2025-03']);
  const isPossible = sql`app_key <> ${sql.lit(home.app.app_key)} or month = date '2025-02-01' - date '1970-01-01'`;
  await sql`alter table fact_column_chunk add constraint february_alone check (${isPossible}) not valid`.execute(db);
  await vi.waitFor(async () => {
    await tidyColumns(db).catch(() => undefined);
    expect(await listAppended(home)).toEqual([2, 0, 2]);
  }, 10_000);
});

/** Watches a service's checks for months that need columns, and makes each take this many milliseconds longer. */
function watchChecks({ deps }: TestService, words: string, extraMs: number) {
  const checks = new Set<unknown>();
  const db = deps.db.withPlugin({
    transformQuery({ node, queryId }) {
      if (JSON.stringify(node).includes(words)) checks.add(queryId);
      return node;
    },
    async transformResult({ result, queryId }) {
      if (checks.has(queryId)) await sleep(extraMs);
      return result;
    },
  });
  return { db, checks };
}

test('a check that finds a month which then fails does not rest as if it had found nothing: other months are waiting', async () => {
  const failing = await startService();
  const homes = [await addApp(failing, { name: 'Fails' }), await addApp(failing, { name: 'Three months' })];
  const installs = ['2025-01', '2025-02', '2025-03'].map((month) => ({
    customer_user_id: month,
    installed_at: `${month}-02T00:00:00Z`,
  }));
  await importProfiles(homes[0]!, installs.slice(0, 1));
  await importProfiles(homes[1]!, installs);
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
    failing.deps.db,
  );
  await sql`create trigger refuse before delete on install_column_change for each row
    when (old.app_key = ${sql.lit(homes[0]!.app.app_key)}) execute function refuse()`.execute(failing.deps.db);
  const { db } = watchChecks(failing, 'left join install_column_month', 300);
  const upkeep = startUpkeep({ db, log: failing.deps.log });
  const left = async () => {
    const { rows } = await sql<{ app_key: number }>`select app_key from install_column_change`.execute(failing.deps.db);
    return rows.map(({ app_key }) => app_key);
  };
  await vi.waitFor(async () => expect(await left()).toEqual([homes[0]!.app.app_key]), 10_000);
  await upkeep.stop();
  await failing.close();
});

test('a check that finds no month in need of columns rests in proportion to the time it took', async () => {
  const idle = await startService();
  const { db, checks } = watchChecks(idle, 'left join fact_column_month', 30);
  const upkeep = startUpkeep({ db, log: idle.deps.log });
  await vi.waitFor(() => expect(checks.size).toBe(1), 10_000);
  await sleep(2_000);
  expect(checks.size).toBe(1);
  await vi.waitFor(() => expect(checks.size).toBe(2), 10_000);
  await upkeep.stop();
  await idle.close();
});
