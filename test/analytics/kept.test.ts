// A kept answer is returned as long as it is true and no longer, whatever changes the facts and in whichever process.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { configureProducts, setStore } from '../../src/apps/catalogue.ts';
import { period, setTransaction } from '../purchases/world.ts';
import { type CallOptions, startService, type TestService } from '../setup/service.ts';
import { addApp, askChart, CHARTS_PATH, importProfiles, importTransactions } from './import.ts';

const START = '2025-06-15T12:00:00.000Z';
const PROFILE = '/api/v2/server-side-api/profile/';
const CUSTOMER = { 'service-customer-user-id': 'ada' };
let service: TestService;
let now = new Date(START);

beforeAll(async () => {
  service = await startService({ now: () => now });
  await post(PROFILE, { headers: CUSTOMER, body: { installed_at: '2025-01-10T00:00:00Z', country: 'US' } });
  await buy('ada');
});
beforeEach(() => {
  now = new Date(START);
});
afterAll(() => service.close());

type Question = Record<string, unknown>;

function question(chart_id: string, date: string[], more: Question = {}): Question {
  return { chart_id, period_unit: 'month', filters: { date }, ...more };
}

async function answer(body: Question, headers?: Record<string, string>) {
  const { status, json } = await askChart(service, body, headers);
  expect(status).toBe(200);
  return json.data;
}

/** Starts a second server on the same database. It keeps answers of its own, as another process would. */
async function startAnother() {
  const { app } = await buildApp(service.deps, ['admin']);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const own = { authorization: `Api-Key ${service.secretKey}`, 'content-type': 'application/json' };
  return {
    async answer(body: Question, more: Record<string, string> = {}) {
      const headers = { ...own, ...more };
      const response = await fetch(`${url}${CHARTS_PATH}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return ((await response.json()) as { data: unknown }).data;
    },
    close: () => app.close(),
  };
}

async function total(body: Question): Promise<number> {
  return Object.values<{ value: number }>(await answer(body))[0]!.value;
}

async function post(path: string, options: CallOptions): Promise<void> {
  const { status, text } = await service.call('POST', path, { key: service.secretKey, ...options });
  expect(status, text).toBeLessThan(300);
}

async function buy(customer: string, members: Record<string, unknown> = {}): Promise<void> {
  const { status, text } = await setTransaction(service, customer, period(members));
  expect(status, text).toBe(200);
}

/** Changes the facts behind the service's back: computed answers show it, kept ones do not. */
async function changeFactsDirectly(revenue: bigint): Promise<void> {
  await service.database.db.updateTable('fact_transaction').set({ revenue }).execute();
}

const REVENUE = question('revenue', ['2025-01-01', '2025-03-31']);

test('a repeated question is answered without computing', async () => {
  expect(await total(REVENUE)).toBe(10);
  await changeFactsDirectly(20_000_000_000n);
  expect(await total(REVENUE)).toBe(10);
  expect(await total({ ...REVENUE, period_unit: 'year' })).toBe(20);
  await changeFactsDirectly(10_000_000_000n);
});

test('a question that reaches now is answered from the kept answer, even if something has already happened today', async () => {
  const ids = { store_transaction_id: 'today', store_original_transaction_id: 'today' };
  await buy('ada', { ...ids, purchased_at: '2025-06-15T11:00:00Z', expires_at: '2025-07-15T11:00:00Z' });
  const body = question('revenue', ['2025-06-15', '2025-06-15']);
  expect(await total(body)).toBe(10);
  await changeFactsDirectly(20_000_000_000n);
  expect(await total(body)).toBe(10);
  await changeFactsDirectly(10_000_000_000n);
});

test('a kept answer is not returned to another app that asks the same, even if its facts have changed as often', async () => {
  const values: number[] = [];
  for (const count of [1, 2]) {
    const home = await addApp(service, { name: 'Asks the same' });
    const profile = (i: number) => ({ customer_user_id: `p${i}`, installed_at: '2025-01-05T00:00:00Z' });
    await importProfiles(
      home,
      Array.from({ length: count }, (_, i) => profile(i)),
    );
    const { json } = await askChart(home, question('installs', ['2025-01-05', '2025-01-05']));
    values.push(json.data.common.value);
  }
  expect(values).toEqual([1, 2]);
});

test('a kept answer is not returned if the clock has been set back since', async () => {
  const question = { ...REVENUE, period_unit: 'quarter' };
  expect(await total(question)).toBe(10);
  await changeFactsDirectly(20_000_000_000n);
  expect(await total(question)).toBe(10);
  now = new Date('2025-06-15T11:59:59.999Z');
  expect(await total(question)).toBe(20);
  await changeFactsDirectly(10_000_000_000n);
});

const CHANGES: [string, Question, () => Promise<unknown>][] = [
  [
    'a transaction',
    question('revenue', ['2025-01-01', '2025-03-31']),
    () =>
      buy('ada', {
        store_transaction_id: 't2',
        purchased_at: '2025-03-01T00:00:00Z',
        expires_at: '2025-04-01T00:00:00Z',
      }),
  ],
  [
    'an attribution',
    question('installs', ['2025-01-01', '2025-03-31'], { segmentation: 'attribution_channel' }),
    () =>
      post('/api/v2/web-api/attribution/', {
        key: service.publicKey,
        body: { customer_user_id: 'ada', status: 'non_organic', channel: 'kept' },
      }),
  ],
  [
    'a new profile',
    question('installs', ['2025-05-01', '2025-05-31']),
    () => post(PROFILE, { body: { installed_at: '2025-05-05T00:00:00Z' } }),
  ],
  [
    'a changed profile',
    question('installs', ['2025-01-01', '2025-03-31'], { segmentation: 'country' }),
    () =>
      service.call('PATCH', PROFILE, {
        key: service.secretKey,
        headers: CUSTOMER,
        body: { country: 'DE' },
      }),
  ],
  [
    'imported profiles',
    question('installs', ['2025-04-01', '2025-04-30']),
    () => importProfiles(service, [{ customer_user_id: 'bob', installed_at: '2025-04-05T00:00:00Z' }]),
  ],
  [
    'imported transactions',
    question('subscriptions_new', ['2025-01-01', '2025-06-01']),
    () =>
      importTransactions(service, [
        {
          customer_user_id: 'ada',
          ...period({ store_transaction_id: 'i1', store_original_transaction_id: 'i1' }),
        },
      ]),
  ],
  [
    'a product',
    question('revenue', ['2025-01-01', '2025-03-31'], { segmentation: 'duration' }),
    () =>
      configureProducts(service.deps, service.appId, [
        { store: 'app_store', store_product_id: 'monthly', duration: 'Annual' },
      ]),
  ],
  [
    'the title of a store',
    question('revenue', ['2025-01-01', '2025-03-31'], { segmentation: 'store' }),
    () => setStore(service.deps, service.appId, { store: 'app_store', title: 'Ours' }),
  ],
];

test.each(CHANGES)('%s changes the answer, including that of another process', async (_, body, change) => {
  const other = await startAnother();
  try {
    const before = await answer(body);
    expect(await other.answer(body)).toEqual(before);
    await change();
    const after = await answer(body);
    expect(after).not.toEqual(before);
    expect(await other.answer(body)).toEqual(after);
  } finally {
    await other.close();
  }
});

test('time alone changes the answer when it passes a moment of a fact', async () => {
  await post(PROFILE, { headers: { 'service-customer-user-id': 'eve' }, body: {} });
  // A chart's now is the last microsecond of the current millisecond, and a stock is counted just before it.
  const soon = { purchased_at: '2025-06-15T12:00:30.000999Z', expires_at: '2025-06-15T12:01:00.000999Z' };
  await buy('eve', { store_transaction_id: 'e1', store_original_transaction_id: 'e1', ...soon });
  const active = question('subscriptions_active', ['2025-06-15', '2025-06-15'], { period_unit: 'day' });
  const counts: number[] = [];
  for (const at of ['12:00:00', '12:00:30', '12:00:31', '12:01:00', '12:01:01']) {
    now = new Date(`2025-06-15T${at}Z`);
    counts.push(await total(active));
  }
  expect(counts.map((count) => count - counts[0]!)).toEqual([0, 0, 1, 1, 0]);
});

test('a future refund appears in answers about the past once its time has come', async () => {
  const body = question('subscriptions_active', ['2025-02-10', '2025-02-10'], { period_unit: 'day' });
  await buy('ada', { refunded_at: '2025-06-15T13:00:00Z', cancellation_reason: 'refund' });
  const before = await total(body);
  now = new Date('2025-06-15T12:59:59Z');
  expect(await total(body)).toBe(before);
  now = new Date('2025-06-15T13:00:01Z');
  expect(await total(body)).toBe(before - 1);
});

const NEW_YORK = { 'service-tz': 'America/New_York' };
const BY_INSTALL = { date_type: 'profile_install_date' };

const PASSING: [string, Question, string[], Record<string, string>?][] = [
  [
    'midnight in the requested zone',
    question('installs', ['2025-06-15', '2025-06-16'], { period_unit: 'day' }),
    ['2025-06-16T03:59:59Z', '2025-06-16T04:00:00Z'],
    NEW_YORK,
  ],
  [
    'a moment after midnight in the zone of the app, when another zone is requested',
    question('subscriptions_new', ['2025-06-15', '2025-06-15'], { period_unit: 'day' }),
    ['2025-06-15T23:59:00Z', '2025-06-16T00:11:00Z'],
    NEW_YORK,
  ],
  [
    'a purchase by a profile that was installed long ago',
    question('revenue', ['2025-01-01', '2025-01-31'], BY_INSTALL),
    ['2025-06-15T15:59:59.999Z', '2025-06-15T16:00:00Z'],
  ],
  [
    'an install whose profile bought before it',
    question('revenue', ['2025-06-01', '2025-06-30'], BY_INSTALL),
    ['2025-06-15T14:59:59.999Z', '2025-06-15T15:00:00Z'],
  ],
  [
    'an install that revenue is divided by',
    question('arpu', ['2025-06-01', '2025-06-30']),
    ['2025-06-15T14:59:59.999Z', '2025-06-15T15:00:00Z'],
  ],
  [
    'a purchase in the range that is compared with',
    { chart_id: 'revenue', period_unit: 'day', filters: { date: ['2025-06-16'], compare_date: ['2025-06-15'] } },
    ['2025-06-15T15:59:59.999Z', '2025-06-15T16:00:00Z'],
  ],
];

test('the answer changes as soon as a moment that it depends on has passed', async () => {
  await post(PROFILE, {
    headers: { 'service-customer-user-id': 'fay' },
    body: { installed_at: '2025-06-15T15:00:00Z' },
  });
  const bought = [
    ['fay', '2025-06-15T11:00:00Z'],
    // Within the current millisecond, all of which charts include.
    ['ada', '2025-06-15T16:00:00.000999Z'],
    ['ada', '2025-06-16T00:10:00Z'],
  ] as const;
  for (const [customer, purchased_at] of bought) {
    const ids = { store_transaction_id: purchased_at, store_original_transaction_id: purchased_at };
    await buy(customer, { ...ids, purchased_at, expires_at: '2025-07-15T00:00:00Z' });
  }
  const other = await startAnother();
  try {
    for (const [what, body, [before, after], headers] of PASSING) {
      now = new Date(before as string);
      const earlier = await answer(body, headers);
      now = new Date(after as string);
      const later = await answer(body, headers);
      expect(later, what).not.toEqual(earlier);
      expect(later, what).toEqual(await other.answer(body, headers));
    }
  } finally {
    await other.close();
  }
});

test('the answer changes at midnight', async () => {
  const body = question('installs', ['2025-06-15', '2025-06-16'], { period_unit: 'day' });
  const buckets = async () => (await answer(body)).common.data[0].values.length;
  now = new Date('2025-06-15T23:59:59Z');
  expect(await buckets()).toBe(1);
  now = new Date('2025-06-16T00:00:00Z');
  expect(await buckets()).toBe(2);
});

test('the kept answer for null is not returned for a number too large for a double, which is invalid', async () => {
  const ask = (unit: string) =>
    askChart(service, `{"chart_id":"installs","filters":{"date":["2025-01-01"]},"period_unit":${unit}}`);
  expect((await ask('null')).status).toBe(200);
  expect((await ask('1e999')).status).toBe(400);
});

test('a null under a name that does not exist is refused, even if the question without it has a kept answer', async () => {
  const ask = (members: object, filters: object = {}) =>
    askChart(service, { ...question('installs', []), filters: { date: ['2025-01-02'], ...filters }, ...members });
  const responses = [
    await ask({}),
    await ask({ chart: null }),
    await ask({}, { contry: null }),
    await ask({ format: null }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 400, 400, 200]);
});
