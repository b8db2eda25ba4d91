// Totals are a cache: charts answer the same whether totals are complete, half built, out of date or missing.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configureProducts, removeProduct } from '../../src/apps/catalogue.ts';
import { refreshColumns } from '../../src/facts/columns.ts';
import { refreshInstallColumns } from '../../src/facts/install-columns.ts';
import { readKind } from '../../src/facts/kind.ts';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { refreshMoves, refreshTotals } from '../../src/facts/totals.ts';
import { raiseVersion } from '../../src/facts/version.ts';
import { PROFILE } from '../profile/world.ts';
import { SET } from '../purchases/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { APP_ZONE, EXAMPLE } from './examples.ts';
import { history, NOW, PRODUCTS } from './histories.ts';
import {
  addApp,
  addProducts,
  askChart,
  COINS,
  type Home,
  importProfiles,
  importTransactions,
  totalAll,
} from './import.ts';
import { consultOracle } from './oracle.ts';
import type { World } from './oracle-facts.ts';
import { ask, questions } from './questions.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ now: () => new Date(NOW) });
});
afterAll(() => service.close());

const completeTotals = () => totalAll(service.deps.db, 50);

async function relabelAll(): Promise<void> {
  while ((await relabelBatch(service.deps.db)) > 0);
}

/** Low limits, as if every month had many facts and changes; some changes are appended, some cause a rebuild. */
const LOW_LIMITS = { minFacts: 1, minInstalls: 1, minChanges: 1, maxAppended: 2 };
/** Brings the columns of one month up to date. */
const refreshMonth = () => refreshColumns(service.deps.db, LOW_LIMITS);
const refreshInstallMonth = () => refreshInstallColumns(service.deps.db, LOW_LIMITS);

/** Refreshes the two months, of half a year, that need it most. */
async function refreshSomeMonths(): Promise<void> {
  await refreshMonth();
  await refreshMonth();
}

async function completeColumns(): Promise<void> {
  while ((await refreshMonth()) > 0);
  while ((await refreshInstallMonth()) > 0);
}

/** Returns the transactions with every other one in an earlier state: another price, not refunded, never cancelled. */
function before(transactions: World['transactions']): object[] {
  return transactions.map((transaction, i) => {
    if (i % 2 === 0) return transaction;
    const { refunded_at: _, cancellation_reason: __, ...rest } = transaction;
    return { ...rest, price: { ...rest.price, country: 'FR' } };
  });
}

/** Returns the profiles, with an earlier, different attribution for those that have one. */
function labelledBefore(profiles: World['profiles']): object[] {
  return profiles.map(({ attribution, ...profile }, i) => ({
    ...profile,
    ...(attribution && { attribution: { status: 'organic', channel: i % 2 === 0 ? 'before' : 'social' } }),
  }));
}

/** Returns the profiles, with an attribution that differs only in its campaign for those that have one. */
function labelledBetween(profiles: World['profiles']): object[] {
  return profiles.map(({ attribution, ...profile }) => ({
    ...profile,
    ...(attribution && { attribution: { ...attribution, campaign: 'between' } }),
  }));
}

/** Returns every other profile in an earlier state: without a label, installed elsewhere and in another month. */
function installedBefore(profiles: World['profiles']): object[] {
  return profiles.map((profile, i) => {
    const { attribution: _, ...rest } = profile;
    const elsewhere = { ...(rest.country && { country: 'FR' }), ...(rest.store && { store: 'stripe' }) };
    return i % 2 === 0 ? profile : { ...rest, ...elsewhere, installed_at: '2024-11-20T12:00:00Z' };
  });
}

/** Returns the first quarter of the profiles. */
const someOf = (profiles: World['profiles']) => profiles.slice(0, Math.ceil(profiles.length / 4));

/** Returns the transactions with each chain belonging to another of the profiles, if there are several. */
function ownedByOthers({ profiles, transactions }: World): object[] {
  const customers = profiles.map(({ customer_user_id }) => customer_user_id);
  return transactions.map((transaction) => {
    const next = (customers.indexOf(transaction.customer_user_id) + 1) % customers.length;
    return { ...transaction, customer_user_id: customers[next] };
  });
}

/** Returns one transaction of each chain. */
function lastOfChains({ transactions }: World): World['transactions'] {
  const chains = transactions.map((one) => [`${one.store} ${one.store_original_transaction_id}`, one] as const);
  return [...new Map(chains).values()];
}

/** Sets the transactions over HTTP. */
async function setAll(home: Home, transactions: World['transactions']): Promise<void> {
  for (const { customer_user_id, ...body } of transactions) {
    const headers = { 'service-customer-user-id': customer_user_id };
    const { status } = await home.call('POST', SET, { key: home.secretKey, headers, body });
    expect(status).toBe(200);
  }
}

async function deleteAll(home: Home, profiles: World['profiles']): Promise<void> {
  for (const { customer_user_id } of profiles) {
    const headers = { 'service-customer-user-id': customer_user_id };
    const { status } = await home.call('DELETE', PROFILE, { key: home.secretKey, headers });
    expect(status).toBe(204);
  }
}

/** The products with other durations, and one more. */
const PRODUCTS_BEFORE = [
  ...PRODUCTS.map((product, i) => ({ ...product, duration: PRODUCTS.at(i - 1)!.duration })),
  { store: 'app_store', store_product_id: 'unconfigured', duration: 'Annual' as const },
];

const STATES = {
  async complete(home, { transactions }) {
    await importTransactions(home, transactions);
    await completeTotals();
  },
  async 'complete, and in columns'(home, { transactions }) {
    await importTransactions(home, transactions);
    await completeTotals();
    await completeColumns();
  },
  async 'in columns of some months'(home, { transactions }) {
    await importTransactions(home, transactions.slice(0, Math.ceil(transactions.length / 2)));
    await completeTotals();
    await refreshSomeMonths();
    await importTransactions(home, transactions);
    await refreshTotals(service.deps.db, Math.ceil(transactions.length / 4));
  },
  async 'in columns that are out of date'(home, { transactions }) {
    await importTransactions(home, before(transactions));
    await completeTotals();
    await completeColumns();
    await importTransactions(home, transactions);
    await refreshTotals(service.deps.db, Math.ceil(transactions.length / 4));
  },
  async 'in columns to which changes were appended'(home, { transactions }) {
    await importTransactions(home, before(transactions));
    await completeTotals();
    await completeColumns();
    for (const newer of [transactions, before(transactions), transactions]) {
      await importTransactions(home, newer);
      await completeTotals();
      await refreshSomeMonths();
    }
  },
  async 'in columns of earlier labels, some of which were replaced in the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals();
    await completeColumns();
    await importProfiles(home, someOf(profiles));
    await relabelAll();
    await completeTotals();
    await importProfiles(home, profiles);
  },
  async 'in columns that were built while labels were written to the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals();
    await importProfiles(home, someOf(profiles));
    await relabelAll();
    await refreshMoves(service.deps.db);
    await importProfiles(home, profiles);
    await relabelAll();
    await completeColumns();
  },
  async 'of installs in columns, some changed together with their labels, and some changes appended'(
    home,
    { profiles, transactions },
  ) {
    await importProfiles(home, installedBefore(profiles));
    await completeColumns();
    await importProfiles(home, profiles.slice(0, Math.ceil(profiles.length / 2)));
    await refreshInstallMonth();
    await importTransactions(home, transactions);
    await completeTotals();
    await importProfiles(home, profiles);
    await relabelBatch(service.deps.db);
    await importProfiles(home, profiles.slice(0, 1));
  },
  async 'of installs in columns of some months'(home, { profiles, transactions }) {
    await importProfiles(home, installedBefore(profiles));
    await refreshInstallMonth();
    await importTransactions(home, transactions);
    await completeTotals();
    await importProfiles(home, profiles);
  },
  async 'half built'(home, { transactions }) {
    await importTransactions(home, transactions);
    await refreshTotals(service.deps.db, Math.ceil(transactions.length / 2));
  },
  async 'out of date'(home, { transactions }) {
    await importTransactions(home, before(transactions));
    await completeTotals();
    await importTransactions(home, transactions);
  },
  async 'brought up to date'(home, { transactions }) {
    await importTransactions(home, before(transactions));
    await completeTotals();
    await importTransactions(home, transactions);
    await refreshTotals(service.deps.db, 3);
    await importTransactions(home, before(transactions));
    await completeTotals();
    await importTransactions(home, transactions);
    await completeTotals();
  },
  async 'of earlier labels'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals();
    await importProfiles(home, profiles);
  },
  async 'of labels that changed twice since'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals();
    await importProfiles(home, labelledBetween(profiles));
    await importProfiles(home, profiles);
  },
  async 'of labels that changed and changed back'(home, { profiles, transactions }) {
    await importProfiles(home, profiles);
    await importTransactions(home, transactions);
    await relabelAll();
    await completeTotals();
    await importProfiles(home, labelledBefore(profiles));
    await importProfiles(home, profiles);
  },
  async 'of labels that changed again while some were written to the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals();
    await importProfiles(home, profiles);
    await importProfiles(home, labelledBetween(profiles));
    await relabelBatch(service.deps.db, 2);
    await importProfiles(home, profiles);
    await relabelBatch(service.deps.db, 1);
  },
  async 'of earlier labels, some of which were replaced in the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals();
    await importProfiles(home, someOf(profiles));
    await relabelAll();
    await importProfiles(home, profiles);
  },
  async 'of labels that were written to facts which changed later'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, before(transactions));
    await completeTotals();
    await importProfiles(home, someOf(profiles));
    await relabelAll();
    await refreshMoves(service.deps.db);
    await importProfiles(home, profiles);
    await relabelAll();
    await importTransactions(home, transactions);
    await refreshTotals(service.deps.db, Math.ceil(transactions.length / 4));
  },
  async 'of labels that were written to the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals();
    await importProfiles(home, profiles);
    await relabelAll();
    await completeTotals();
  },
  async 'of chains that belonged to other profiles'(home, world) {
    await importTransactions(home, ownedByOthers(world));
    await completeTotals();
    await completeColumns();
    const chains = lastOfChains(world);
    const half = Math.ceil(chains.length / 2);
    await setAll(home, chains.slice(0, half));
    await completeTotals();
    await refreshSomeMonths();
    await setAll(home, chains.slice(half));
    await refreshTotals(service.deps.db, half);
  },
  async 'of products that were configured differently'(home, { transactions }) {
    await configureProducts(home.deps, home.app.app_id, PRODUCTS_BEFORE);
    await importTransactions(home, transactions);
    await completeTotals();
    await completeColumns();
    await configureProducts(home.deps, home.app.app_id, PRODUCTS);
    await refreshTotals(service.deps.db, Math.ceil(transactions.length / 4));
    await refreshSomeMonths();
    await removeProduct(home.deps, home.app.app_id, { store: 'app_store', store_product_id: 'unconfigured' });
  },
  async 'of earlier labels of profiles that were deleted'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals();
    await completeColumns();
    await importProfiles(home, profiles);
    await deleteAll(home, someOf(profiles));
    await relabelBatch(service.deps.db);
    await deleteAll(home, profiles.slice(someOf(profiles).length));
  },
} satisfies Record<string, (home: Home, world: World) => Promise<void>>;

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
  await completeTotals();
  for (const campaign of ['second', 'third']) {
    await importProfiles(home, labelled(campaign));
    await relabelAll();
  }
  await completeColumns();
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
    await relabelAll();
    await importTransactions(home, [{ ...one, price: { ...one.price, country } }]);
    await refreshTotals(service.deps.db);
  }
  await refreshMonth();
  await refreshMoves(service.deps.db);
  await completeColumns();
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
  await completeTotals();
  await completeColumns();
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
  await completeTotals();
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
    subscribed('t4', '2025-02-15T12:00:00Z', toCome),
    subscribed('t5', '2025-02-15T12:00:00Z', endedToday),
  ]);
  await completeTotals();
  // January has columns, which have a change; February has none.
  await refreshMonth();
  await importTransactions(home, [subscribed('t6', '2025-01-15T12:00:00Z', endedToday)]);
  await completeTotals();
  const dearer = { price: { ...COINS.price, value: 6 } };
  await importTransactions(home, [
    subscribed('t5', '2025-02-15T12:00:00Z', { ...endedToday, ...dearer }),
    subscribed('t7', '2025-02-15T12:00:00Z'),
  ]);
  const filters = { date: ['2025-02-20', '2025-04-20'], country: ['us'], store: ['stripe'] };
  const question = { chart_id: 'subscriptions_active', date_type: 'purchase_date', period_unit: 'month' };
  const answer = await ask(home, { ...question, filters }, APP_ZONE);
  expect(Object.values(answer)[0]![0]!.y).toEqual([7, 2, 0]);
});

test('a customer whose only purchase no longer counts is not a payer, although columns hold it and its reversal', async () => {
  const home = await addApp(service, { name: 'Taken off', timezone: APP_ZONE });
  await importProfiles(home, [{ customer_user_id: 'u' }, { customer_user_id: 'v' }]);
  for (const environment of ['Production', 'Sandbox']) {
    await importTransactions(home, [coins('u'), coins('v', { environment })]);
    await completeTotals();
    await refreshMonth();
  }
  const { json } = await askChart(home, { chart_id: 'arppu', filters: { date: ['2025-01-01', '2025-01-31'] } });
  expect(json.data.revenue).toMatchObject({ value_from: 1, value_to: 5 });
});

/** The other states take four times as long: `npm run test:states` and CI run them, and generated histories. */
const ALWAYS: ReadonlySet<string> = new Set<keyof typeof STATES>([
  'complete',
  'in columns to which changes were appended',
  'of installs in columns, some changed together with their labels, and some changes appended',
  'half built',
]);
const GENERATED = Number(process.env.HISTORIES ?? 0);

describe.each(Object.entries(STATES))('with totals %s', (state, reachState) => {
  test.skipIf(GENERATED === 0 && !ALWAYS.has(state))(
    'charts answer as the oracle counts',
    { timeout: 300_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(history, questions(4), async (world, asked) => {
          const home = await addApp(service, { name: 'Totals', timezone: APP_ZONE, sharing: 'transfer' });
          await addProducts(home, PRODUCTS);
          if (!/labels|installs/.test(state)) await importProfiles(home, world.profiles);
          await reachState(home, world);
          for (const { question, zoneName } of asked) {
            const expected = consultOracle(world, question, zoneName);
            expect(await ask(home, question, zoneName), JSON.stringify({ question, zoneName })).toEqual(expected);
          }
        }),
        { numRuns: 1 + GENERATED, endOnFailure: true, examples: [EXAMPLE] },
      );
    },
  );
});
