// The answer described in analytics.md 4, on the worked example: every member, comparison, titles, order, future
// dates and freshness.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setStore } from '../../src/apps/catalogue.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProducts, askChart, importProfiles, importTransactions } from './import.ts';

const folder = new URL('../fixtures/example/', import.meta.url);
const lines = async (name: string) =>
  (await readFile(new URL(name, folder), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

let service: TestService;
let now = new Date('2025-06-15T12:00:00Z');

beforeAll(async () => {
  service = await startService({ now: () => now });
  await addProducts(service, JSON.parse(await readFile(new URL('products.json', folder), 'utf8')));
  await importProfiles(service, await lines('profiles.ndjson'));
  await importTransactions(service, await lines('transactions.ndjson'));
});
afterAll(() => service.close());

const date = ['2025-01-01', '2025-03-31'];

interface Metric {
  value: number;
  compare_value: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into series
  data: any[];
}

async function ask(
  body: { filters?: object; [member: string]: unknown },
  headers: Record<string, string> = {},
): Promise<Record<'common' | 'revenue' | 'proceeds' | 'net_revenue', Metric>> {
  const { status, json, text } = await askChart(service, { ...body, filters: { date, ...body.filters } }, headers);
  if (status !== 200) throw new Error(text);
  return json.data;
}

const point = (x: string, y: number) => ({ x: `${x}T00:00:00.000000+0000`, y });

test('a money chart has every member under each of its three keys', async () => {
  const { revenue, ...others } = await ask({});
  expect(Object.keys(others)).toEqual(['proceeds', 'net_revenue']);
  expect(revenue).toEqual({
    title: 'revenue',
    metric_name: 'Revenue',
    description: expect.stringMatching(/^The price of every purchase.+\.$/),
    type: 'multi',
    unit: 'USD',
    default_aggregation: 'sum',
    is_json: true,
    recommended_period: null,
    value: 222,
    value_from: null,
    value_to: null,
    compare_value: null,
    compare_value_from: null,
    compare_value_to: null,
    data: [
      {
        title: 'Total',
        type: 'total',
        value: 222,
        values: [point('2025-01-01', 10), point('2025-02-01', 112), point('2025-03-01', 100)],
        compare_value: null,
        compare_values: null,
      },
    ],
  });
});

test('a count chart has the single key common; the default aggregation of a stock is last', async () => {
  const { common, ...others } = await ask({ chart_id: 'subscriptions_active' });
  expect(others).toEqual({});
  expect(common).toMatchObject({ unit: 'count', default_aggregation: 'last', metric_name: 'Active subscriptions' });
});

test('a ratio has its denominator and numerator, and no aggregation', async () => {
  const { revenue, proceeds } = await ask({ chart_id: 'arppu' });
  expect(revenue).toMatchObject({ default_aggregation: null, value: 44.4, value_from: 5, value_to: 222 });
  expect(proceeds).toMatchObject({ value: 33.24, value_from: 5, value_to: 166.2 });
});

test('a ratio over zero is 0', async () => {
  const { revenue } = await ask({ chart_id: 'arpu', filters: { date: ['2024-01-01'] } });
  expect(revenue).toMatchObject({ value: 0, value_from: 0, value_to: 0 });
});

describe('compare_date', () => {
  test('answers the same question for another span of any length, with buckets of its own', async () => {
    const filters = { date: ['2025-02-01', '2025-03-31'], compare_date: ['2025-01-15', '2025-01-31'] };
    const { common } = await ask({ chart_id: 'subscriptions_new', segmentation: 'store', filters });
    expect(common).toMatchObject({ value: 3, compare_value: 0, compare_value_from: null });
    expect(common.data.map(({ type }: { type: string }) => type)).toEqual(['total', 'play_store', 'stripe']);
    expect(common.data[1]).toMatchObject({ compare_value: 0, compare_values: [point('2025-01-15', 0)] });
  });

  test('includes a segment that only the other span has, with the value 0', async () => {
    const filters = { date: ['2025-03-01', '2025-03-31'], compare_date: ['2025-01-01', '2025-01-31'] };
    const { common } = await ask({ chart_id: 'subscriptions_new', segmentation: 'store', filters });
    expect(common.data.slice(1)).toEqual([
      expect.objectContaining({
        title: 'App Store',
        type: 'app_store',
        value: 0,
        compare_value: 1,
        compare_values: [point('2025-01-01', 1)],
      }),
    ]);
  });

  test('uses the time zone of the question too', async () => {
    const filters = { date: ['2025-02-01'], compare_date: ['2025-01-01'] };
    const { common } = await ask({ chart_id: 'subscriptions_new', filters }, { 'service-tz': 'Asia/Kathmandu' });
    expect(common.data[0].compare_values).toEqual([{ x: '2025-01-01T00:00:00.000000+0545', y: 0 }]);
  });

  test('gives a ratio its own denominator and numerator', async () => {
    const filters = { date: ['2025-02-01', '2025-02-28'], compare_date: ['2025-03-01', '2025-03-31'] };
    const { revenue } = await ask({ chart_id: 'arppu', filters });
    expect(revenue).toMatchObject({ value_from: 4, value_to: 112, compare_value_from: 2, compare_value_to: 100 });
  });
});

describe('titles', () => {
  const titles = async (chart_id: string, segmentation: string) =>
    Object.fromEntries(
      Object.values(await ask({ chart_id, segmentation }))
        .flatMap(({ data }) => data)
        .map(({ type, title }) => [type, title]),
    );

  test('are given to countries, stores and missing values', async () => {
    expect(await titles('revenue', 'country')).toEqual({
      total: 'Total',
      us: 'United States',
      de: 'Germany',
      jp: 'Japan',
    });
    expect(await titles('installs', 'attribution_campaign')).toMatchObject({ '': 'Unknown', spring: 'spring' });
  });

  test('a store can be given another title', async () => {
    expect(await titles('installs', 'store')).toMatchObject({ app_store: 'App Store', stripe: 'Stripe' });
    await setStore(service.deps, service.appId, { store: 'stripe', title: 'Web shop' });
    expect(await titles('installs', 'store')).toMatchObject({ app_store: 'App Store', stripe: 'Web shop' });
  });
});

describe('now', () => {
  test('buckets that begin later are left out, and the bucket that contains now ends with it', async () => {
    now = new Date('2025-03-05T12:00:00Z');
    const { common } = await ask({ chart_id: 'subscriptions_active', filters: { date: ['2025-02-01', '2025-12-31'] } });
    // eve's e1 was refunded on 2 March; dee is in her grace period.
    expect(common.data[0].values).toEqual([point('2025-02-01', 2), point('2025-03-01', 2)]);
    const { common: expired } = await ask({
      chart_id: 'subscriptions_expired',
      filters: { date: ['2025-03-01', '2025-03-31'] },
    });
    expect(expired.value).toBe(1);
  });

  test('a refund counts once its time has come, and then changes stocks of the past as well', async () => {
    now = new Date('2025-03-01T00:00:00Z');
    const { common } = await ask({ chart_id: 'subscriptions_active', filters: { date: ['2025-02-01', '2025-02-28'] } });
    expect(common.value).toBe(3);
    now = new Date('2025-06-15T12:00:00Z');
    const { common: later } = await ask({
      chart_id: 'subscriptions_active',
      filters: { date: ['2025-02-01', '2025-02-28'] },
    });
    expect(later.value).toBe(2);
  });

  test('a range in the future has no points and the value 0', async () => {
    const { common } = await ask({ chart_id: 'subscriptions_active', filters: { date: ['2026-01-01', '2026-12-31'] } });
    expect(common).toMatchObject({ value: 0, data: [{ type: 'total', value: 0, values: [] }] });
  });
});

test('for a stock by install date, the value of the range is the sum of the cohorts', async () => {
  const { common } = await ask({ chart_id: 'subscriptions_active', date_type: 'profile_install_date' });
  expect(common.data[0].values.map(({ y }: { y: number }) => y)).toEqual([1, 1, 0]);
  expect(common.value).toBe(2);
});

test('arpu by period divides the revenue of each period by all installs', async () => {
  const { revenue } = await ask({ chart_id: 'arpu', segmentation: 'period' });
  expect(revenue.data.map(({ type, value }: { type: string; value: number }) => [type, value])).toEqual([
    ['total', 37],
    ['one_time', 16.666667],
    ['renewal_1', 15.833333],
    ['activation', 4.5],
  ]);
});

test('filters: any of the values of a member may match, all members must match, and spellings are forgiven', async () => {
  const value = async (filters: object) => (await ask({ filters })).revenue.value;
  expect(await value({ country: ['US', 'de'] })).toBe(192);
  expect(await value({ country: ['US', 'de'], store: ['play_store'] })).toBe(22);
  expect(await value({ attribution_status: ['Non-Organic'] })).toBe(82);
  expect(await value({ attribution_status: [''] })).toBe(130);
  expect(await value({ offer_category: ['no_offer'] })).toBe(210);
  expect(await value({ duration: ['6 MONTHS', 'annual'] })).toBe(90);
  expect(await value({ store: ['App_Store'] })).toBe(0);
  expect(await value({ store: [], country: null })).toBe(222);
});

test.each(['day', 'week', 'month', 'quarter', 'year'])('the plural of %s means the same unit', async (unit) => {
  const plural = await ask({ chart_id: 'installs', period_unit: `${unit}s` });
  expect(plural).toEqual(await ask({ chart_id: 'installs', period_unit: unit }));
});

test('figures are fresh: a confirmed attribution is in the next chart', async () => {
  const channels = async () =>
    (await ask({ segmentation: 'attribution_channel' })).revenue.data.map(
      ({ type, value }: { type: string; value: number }) => [type, value],
    );
  const before = await channels();
  expect(before).toContainEqual(['', 140]);
  for (const channel of ['newsletter', 'social']) {
    const body = { customer_user_id: 'bob', status: 'non_organic', channel };
    expect((await service.call('POST', '/api/v2/web-api/attribution/', { key: service.publicKey, body })).status).toBe(
      201,
    );
    expect(await channels()).toContainEqual([channel, channel === 'social' ? 170 : 100]);
    expect((await ask({ filters: { attribution_channel: [channel] } })).revenue.value).toBe(
      channel === 'social' ? 170 : 100,
    );
  }
  expect(await channels()).toContainEqual(['', 40]);
});
