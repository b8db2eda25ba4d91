// Each fact counts once, whatever of it totals, columns and their changes hold.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAGE_SIZE } from '../../src/facts/column-chunk.ts';
import { readKind } from '../../src/facts/kind.ts';
import { refreshMoves, refreshTotals } from '../../src/facts/totals.ts';
import { raiseVersion } from '../../src/facts/version.ts';
import { startService, type TestService } from '../setup/service.ts';
import { completeColumns, completeTotals, refreshMonth, relabelAll } from './background.ts';
import { APP_ZONE } from './examples.ts';
import { NOW } from './histories.ts';
import { addApp, askChart, COINS, importProfiles, importTransactions } from './import.ts';
import { ask } from './questions.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ now: () => new Date(NOW) });
});
afterAll(() => service.close());

/** The coins of `u` as a purchase of this customer, with ids of its own. */
const coins = (customer: string, members: object = {}) => ({
  ...COINS,
  customer_user_id: customer,
  store_transaction_id: customer,
  store_original_transaction_id: customer,
  ...members,
});

test('columns built while facts are relabelled contain every fact once', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Columns', timezone: APP_ZONE });
  const labelled = (campaign: string) => [
    { customer_user_id: 'u', installed_at: '2025-01-02T00:00:00Z', attribution: { status: 'non_organic', campaign } },
  ];
  await importProfiles(home, labelled('first'));
  await importTransactions(
    home,
    ['t1', 't2', 't3'].map((id) => coins('u', { store_transaction_id: id, store_original_transaction_id: id })),
  );
  await completeTotals(service.deps.db);
  for (const campaign of ['second', 'third']) {
    await importProfiles(home, labelled(campaign));
    await relabelAll(service.deps.db);
  }
  await completeColumns(service.deps.db);
  const chunks = await db
    .selectFrom('fact_column_chunk as c')
    .innerJoin('app', 'app.app_key', 'c.app_key')
    .where('app_id', '=', home.app.app_id)
    .where('c.name', 'in', ['kind', 'attribution_key'])
    .select(['dictionary', 'codes'])
    .orderBy('c.name')
    .execute();
  const first = await db
    .selectFrom('dim_attribution')
    .where('campaign', '=', 'first')
    .select('attribution_key')
    .executeTakeFirstOrThrow();
  expect(chunks.map(({ codes }) => codes.length)).toEqual([3, 3]);
  expect(chunks[0]!.dictionary).toBe(String(first.attribution_key));
  expect(readKind(Number(chunks[1]!.dictionary)).sign).toBe(1);
});

test('columns built while a fact has moved to another label and country and back contain it once', async () => {
  const home = await addApp(service, { name: 'There and back', timezone: APP_ZONE });
  const one = coins('u');
  for (const [status, country] of [
    ['organic', 'US'],
    ['non_organic', 'FR'],
    ['organic', 'US'],
  ]) {
    await importProfiles(home, [
      { customer_user_id: 'u', installed_at: '2025-01-02T00:00:00Z', attribution: { status } },
    ]);
    await relabelAll(service.deps.db);
    await importTransactions(home, [{ ...one, price: { ...one.price, country } }]);
    await refreshTotals(service.deps.db);
  }
  await refreshMonth(service.deps.db);
  await refreshMoves(service.deps.db);
  await completeColumns(service.deps.db);
  const date = ['2025-01-01', '2025-01-31'];
  for (const [status, value] of [
    ['organic', 5],
    ['non_organic', 0],
  ]) {
    const filters = { date, country: ['us'], store: ['stripe'], attribution_status: [status] };
    const { json } = await askChart(home, { chart_id: 'revenue', filters });
    expect(json.data.revenue.value, String(status)).toBe(value);
  }
});

test('this month is read from columns by campaign, whose totals are monthly', async () => {
  const home = await addApp(service, { name: 'This month', timezone: APP_ZONE });
  await importProfiles(home, [{ customer_user_id: 'u', attribution: { status: 'non_organic', campaign: 'spring' } }]);
  const bought = (purchased_at: string) =>
    coins('u', { purchased_at, store_transaction_id: purchased_at, store_original_transaction_id: purchased_at });
  await importTransactions(home, [bought('2025-01-15T12:00:00Z'), bought('2025-04-10T12:00:00Z')]);
  await completeTotals(service.deps.db);
  await completeColumns(service.deps.db);
  // Charts that still read facts find none.
  const { app_key } = home.app;
  await service.deps.db.deleteFrom('fact_transaction').where('app_key', '=', app_key).execute();
  await raiseVersion(service.deps.db, app_key);
  const question = { segmentation: 'attribution_campaign', filters: { date: ['2025-01-01', '2025-04-20'] } };
  const { json } = await askChart(home, { chart_id: 'revenue', ...question });
  expect(json.data.revenue.value).toBe(10);
});

/** Returns a subscription that ended in March, unless it is given another end. */
const subscribed = (id: string, purchased_at: string, more: object = {}) =>
  coins('u', {
    purchase_type: 'subscription',
    store_transaction_id: id,
    store_original_transaction_id: id,
    purchased_at,
    originally_purchased_at: purchased_at,
    expires_at: '2025-03-20T12:00:00Z',
    renew_status: false,
    ...more,
  });

test('a stock by campaign that begins this month leaves out what has ended earlier since it was totalled', async () => {
  const home = await addApp(service, { name: 'Stock', timezone: APP_ZONE });
  await importProfiles(home, [{ customer_user_id: 'u', attribution: { status: 'non_organic', campaign: 'spring' } }]);
  const endsThisMonth = { expires_at: '2025-04-05T12:00:00Z' };
  await importTransactions(home, [subscribed('t1', '2025-02-15T12:00:00Z', endsThisMonth)]);
  await completeTotals(service.deps.db);
  await importTransactions(home, [subscribed('t1', '2025-02-15T12:00:00Z')]);
  const question = { chart_id: 'subscriptions_active', segmentation: 'attribution_campaign' };
  for (const { date, values } of [
    { date: ['2025-04-15', '2025-04-17'], values: [0, 0, 0] },
    { date: ['2025-03-19', '2025-03-21'], values: [1, 0, 0] },
  ]) {
    const asked = { ...question, date_type: 'purchase_date', period_unit: 'day', filters: { date } };
    expect(Object.values(await ask(home, asked, APP_ZONE))[0]![0]!.y).toEqual(values);
  }
});

test('with columns each fact counts once, including one that is pending, one with a future refund and one that ended today', async () => {
  const home = await addApp(service, { name: 'Other months', timezone: APP_ZONE });
  await importProfiles(home, [{ customer_user_id: 'u' }]);
  const toCome = { refunded_at: '2025-05-10T12:00:00Z', cancellation_reason: 'refund' };
  const endedToday = { expires_at: '2025-04-20T12:00:00Z' };
  await importTransactions(home, [
    ...['t1', 't2', 't3'].map((id) => subscribed(id, '2025-01-15T12:00:00Z')),
    subscribed('t8', '2025-01-15T12:00:00Z', endedToday),
    subscribed('t4', '2025-02-15T12:00:00Z', toCome),
    subscribed('t5', '2025-02-15T12:00:00Z', endedToday),
  ]);
  await completeTotals(service.deps.db);
  // January has columns, which have a change; February has none.
  await refreshMonth(service.deps.db);
  await importTransactions(home, [subscribed('t6', '2025-01-15T12:00:00Z', endedToday)]);
  await completeTotals(service.deps.db);
  const dearer = { price: { ...COINS.price, value: 6 } };
  await importTransactions(home, [
    subscribed('t5', '2025-02-15T12:00:00Z', { ...endedToday, ...dearer }),
    subscribed('t7', '2025-02-15T12:00:00Z'),
  ]);
  const filters = { date: ['2025-02-20', '2025-04-20'], country: ['us'], store: ['stripe'] };
  const question = { chart_id: 'subscriptions_active', date_type: 'purchase_date', period_unit: 'month' };
  for (const zone of [APP_ZONE, 'Asia/Tokyo']) {
    const answer = await ask(home, { ...question, filters }, zone);
    expect(Object.values(answer)[0]![0]!.y, zone).toEqual([8, 3, 0]);
  }
});

test('a customer whose only purchase no longer counts is not a payer, although columns hold it', async () => {
  const home = await addApp(service, { name: 'Taken off', timezone: APP_ZONE });
  await importProfiles(home, [{ customer_user_id: 'u' }, { customer_user_id: 'v' }]);
  const expectOnePayer = async () => {
    await raiseVersion(service.deps.db, home.app.app_key);
    const { json } = await askChart(home, { chart_id: 'arppu', filters: { date: ['2025-01-01', '2025-01-31'] } });
    expect(json.data.revenue).toMatchObject({ value_from: 1, value_to: 5 });
  };
  const buy = (environment: string) => importTransactions(home, [coins('u'), coins('v', { environment })]);
  await buy('Production');
  await completeTotals(service.deps.db);
  await refreshMonth(service.deps.db);
  await buy('Sandbox');
  await expectOnePayer();
  await completeTotals(service.deps.db);
  await expectOnePayer();
  await refreshMonth(service.deps.db);
  await expectOnePayer();
});

test('payers at the same place on different pages of columns are different payers', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Pages', timezone: APP_ZONE });
  await importProfiles(home, [{ customer_user_id: 'u' }, { customer_user_id: 'v' }]);
  await importTransactions(home, [coins('u'), coins('v')]);
  const { app_key } = home.app;
  const [first, second] = await db
    .selectFrom('fact_install')
    .where('app_key', '=', app_key)
    .select(['profile_id', 'profile_no'])
    .orderBy('profile_no')
    .execute();
  await db
    .updateTable('fact_install')
    .set({ profile_no: first!.profile_no + BigInt(PAGE_SIZE) })
    .where('app_key', '=', app_key)
    .where('profile_id', '=', second!.profile_id)
    .execute();
  await completeTotals(db);
  await refreshMonth(db);
  const { json } = await askChart(home, { chart_id: 'arppu', filters: { date: ['2025-01-01', '2025-01-31'] } });
  expect(json.data.revenue).toMatchObject({ value_from: 2, value_to: 10 });
});
