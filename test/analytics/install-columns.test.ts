// Installs in columns: corrections cover every way in which installs can have changed since, and no install is written
// without its images.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { planningEachTime } from '../../src/db/prepared.ts';
import { createFailedMonths } from '../../src/facts/column-groups.ts';
import { refreshInstallColumns } from '../../src/facts/install-columns.ts';
import { writeInstalls } from '../../src/facts/installs.ts';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { withTotalsLocked } from '../../src/facts/totals.ts';
import { waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addApp, askChart, type Home, importProfiles } from './import.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ now: () => new Date('2025-04-20T12:00:00Z') });
});
afterAll(() => service.close());

const refreshMonth = () => refreshInstallColumns(service.deps.db, { minInstalls: 3, minChanges: 2, maxAppended: 2 });

function install(id: string, installed_at: string, channel: string): object {
  return { customer_user_id: id, installed_at, country: 'DE', attribution: { status: 'non_organic', channel } };
}

/** Makes each question end on another day of May, which has not begun, so that no kept answer is returned. */
let asked = 0;

/** Returns the installs of spring by channel and month. */
async function ask(filters: object = {}): Promise<Record<string, number[]>> {
  asked++;
  const { json } = await askChart(service, {
    chart_id: 'installs',
    segmentation: 'attribution_channel',
    filters: { date: ['2025-03-01', `2025-05-${10 + asked}`], ...filters },
  });
  const series: { type: string; values: { y: number }[] }[] = json.data.common.data;
  return Object.fromEntries(series.map(({ type, values }) => [type, values.map(({ y }) => y)]));
}

/** Counts the images of installs in columns, and those among the changes. */
async function countImages(): Promise<{ chunks: number; changes: number }> {
  const { rows } = await sql<{ chunks: number; changes: number }>`select
    (select coalesce(sum(length(codes)), 0)::integer from install_column_chunk where name = 'kind') as chunks,
    (select count(*)::integer from install_column_change) as changes`.execute(service.deps.db);
  return rows[0]!;
}

test('a month with enough installs gets columns, and the changes of a month with fewer are dropped', async () => {
  await importProfiles(service, [
    install('a', '2025-03-01T00:00:00Z', 'social'),
    install('b', '2025-03-31T23:59:59Z', 'social'),
    install('c', '2025-03-10T00:00:00Z', 'search'),
    install('d', '2025-04-10T00:00:00Z', 'search'),
  ]);
  expect(await countImages()).toEqual({ chunks: 0, changes: 4 });
  expect([await refreshMonth(), await refreshMonth(), await refreshMonth()]).toEqual([1, 1, 0]);
  expect(await countImages()).toEqual({ chunks: 3, changes: 0 });
  expect(await ask()).toEqual({ total: [3, 1], social: [2, 0], search: [1, 1] });
});

test('installs of today count from their moment on, and future ones do not count', async () => {
  await importProfiles(service, [
    install('today', '2025-04-20T11:59:59Z', 'social'),
    install('later', '2025-04-20T12:00:01Z', 'social'),
    install('e', '2025-04-01T00:00:00Z', 'search'),
  ]);
  while ((await refreshMonth()) > 0);
  expect(await countImages()).toEqual({ chunks: 7, changes: 0 });
  expect(await ask()).toEqual({ total: [3, 3], search: [1, 2], social: [2, 1] });
});

test('a changed moment or country is corrected immediately, and appended later', async () => {
  await importProfiles(service, [
    { ...install('a', '2025-04-02T00:00:00Z', 'social'), country: 'FR' },
    { ...install('c', '2025-03-10T00:00:00Z', 'search'), country: 'FR' },
  ]);
  const expected = { total: [2, 4], social: [1, 2], search: [1, 2] };
  const french = { total: [1, 1], social: [0, 1], search: [1, 0] };
  expect(await countImages()).toEqual({ chunks: 7, changes: 4 });
  expect([await ask(), await ask({ country: ['FR'] })]).toEqual([expected, french]);
  while ((await refreshMonth()) > 0);
  expect([await ask(), await ask({ country: ['FR'] })]).toEqual([expected, french]);
});

test('a new label counts both before and after it is written to the install', async () => {
  await importProfiles(service, [
    install('b', '2025-03-31T23:59:59Z', 'mail'),
    install('d', '2025-04-10T00:00:00Z', 'mail'),
  ]);
  const expected = { total: [2, 4], mail: [1, 1], search: [1, 1], social: [0, 2] };
  const filters = { attribution_channel: ['mail'] };
  const mail = { total: [1, 1], mail: [1, 1] };
  expect([await ask(), await ask(filters)]).toEqual([expected, mail]);
  await relabelBatch(service.deps.db);
  expect([await ask(), await ask(filters)]).toEqual([expected, mail]);
  while ((await refreshMonth()) > 0);
  expect([await ask(), await ask(filters)]).toEqual([expected, mail]);
});

test('installs written while columns are built become changes for the next run', async () => {
  const { db } = service.deps;
  await importProfiles(service, [
    install('f', '2025-03-05T00:00:00Z', 'mail'),
    install('g', '2025-03-06T00:00:00Z', 'mail'),
  ]);
  await db.transaction().execute(async (trx) => {
    const { profile_id } = await trx
      .updateTable('profile')
      .set({ country: 'FR' })
      .where('customer_user_id', '=', 'f')
      .returning('profile_id')
      .executeTakeFirstOrThrow();
    await writeInstalls(planningEachTime(trx), service.app, sql`(select ${profile_id}::uuid as profile_id)`);
    while ((await refreshMonth()) > 0);
  });
  expect(await ask({ country: ['FR'] })).toEqual({ total: [2, 1], search: [1, 0], mail: [1, 0], social: [0, 1] });
  expect(await ask({ country: ['DE'] })).toMatchObject({ total: [2, 3] });
});

test('installs of today and of the days before count once, both before and after their month has columns', async () => {
  const home = await addApp(service, { name: 'Today' });
  const installAt = (id: string, installed_at: string) => importProfiles(home, [install(id, installed_at, 'mail')]);
  const values: number[] = [];
  for (const [id, day] of [
    ['a', '2025-03-10'],
    ['b', '2025-04-10'],
  ]) {
    for (const n of [1, 2, 3]) await installAt(`${id}${n}`, `${day}T00:00:00Z`);
    while ((await refreshMonth()) > 0);
    await installAt(`later ${id}`, '2025-04-12T00:00:00Z');
    await installAt(`today ${id}`, '2025-04-20T11:00:00Z');
    const { json } = await askChart(home, { chart_id: 'installs', filters: { date: ['2025-03-01', '2025-04-20'] } });
    values.push(json.data.common.value);
  }
  expect(values).toEqual([5, 10]);
  while ((await refreshMonth()) > 0);
});

test('an app that another process is working on does not keep the others from getting columns', async () => {
  const other = await addApp(service, { name: 'Other' });
  const add = (home: Home, ids: readonly string[]) =>
    importProfiles(
      home,
      ids.map((id) => install(id, '2025-02-10T00:00:00Z', 'social')),
    );
  await add(service, ['v', 'w', 'x', 'y', 'z']);
  await add(other, ['x', 'y', 'z']);
  await withTotalsLocked(service.deps.db, service.app.app_key, async () => {
    expect([await refreshMonth(), await refreshMonth()]).toEqual([1, 0]);
    return 1;
  });
  expect(await refreshMonth()).toBe(1);
});

test('changes to a month whose columns another process built meanwhile are included', async () => {
  const { db } = service.deps;
  const [first, second] = [await addApp(service, { name: 'First' }), await addApp(service, { name: 'Second' })];
  const inMarch = ['a', 'b', 'c'].map((id) => install(id, '2025-03-10T00:00:00Z', 'social'));
  for (const one of [first, second]) await importProfiles(one, inMarch);
  // The slow process has seen that neither app has columns, and is stuck at the first.
  const holder = await db.startTransaction().execute();
  const march = Date.UTC(2025, 2, 1) / 86_400_000;
  await sql`insert into install_column_month (app_key, month, installs) values (${first.app.app_key}, ${march}, 0)`.execute(
    holder,
  );
  const slow = refreshMonth();
  await waitForBlocked(service);
  expect(await refreshMonth()).toBe(1);
  await importProfiles(second, [install('a', '2025-02-10T00:00:00Z', 'social')]);
  await holder.rollback().execute();
  await slow;
  while ((await refreshMonth()) > 0);
  const { json } = await askChart(second, { chart_id: 'installs', filters: { date: ['2025-03-01', '2025-03-31'] } });
  expect(json.data.common).toMatchObject({ value: 2 });
});

test('a month whose columns cannot be built is left alone for a while, and the next month of its app gets its own', async () => {
  const { db } = service.deps;
  while ((await refreshMonth()) > 0);
  const home = await addApp(service, { name: 'March fails' });
  const days = ['2025-03-01', '2025-03-02', '2025-03-03', '2025-03-04', '2025-04-01', '2025-04-02', '2025-04-03'];
  await importProfiles(
    home,
    days.map((day) => install(day, `${day}T12:00:00Z`, 'mail')),
  );
  const isPossible = sql`app_key <> ${sql.lit(home.app.app_key)} or month <> date '2025-03-01' - date '1970-01-01'`;
  await sql`alter table install_column_chunk add constraint no_march check (${isPossible}) not valid`.execute(db);
  const failed = createFailedMonths();
  const refresh = () => refreshInstallColumns(db, { minInstalls: 3, minChanges: 2, maxAppended: 2 }, failed);
  await expect(refresh()).rejects.toThrow('no_march');
  expect(await refresh()).toBe(1);
  const { rows } = await sql`
    select installs from install_column_month where app_key = ${home.app.app_key}`.execute(db);
  expect(rows).toEqual([{ installs: 3 }]);
  await sql`alter table install_column_chunk drop constraint no_march`.execute(db);
});
