// The public description of the charts: it says what the analytics operation accepts, and needs no key.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countsLosses } from '../../src/dashboard/chart/losses.ts';
import type { ChartRecord } from '../../src/dashboard/service/answers.ts';
import { startService, type TestService } from '../setup/service.ts';

const CATALOGUE = '/api/v1/client-api/metrics/catalog/';
const CHARTS = '/api/v1/client-api/metrics/analytics/';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

interface Described {
  chart_id: string;
  segmentations: string[];
  filters: string[];
  compares: boolean;
}

async function describeCharts(): Promise<Described[]> {
  const { json } = await service.call('GET', CATALOGUE);
  return json.data.charts;
}

async function statusOf(body: object): Promise<number> {
  const { status } = await service.call('POST', CHARTS, { key: service.secretKey, body });
  return status;
}

const date = ['2025-01-01', '2025-01-31'];

test('the catalogue needs no key and has all 19 charts in five groups', async () => {
  const { status, json } = await service.call('GET', CATALOGUE);
  expect(status).toBe(200);
  const groups = json.data.charts.map(({ group }: { group: string }) => group);
  expect(groups).toHaveLength(19);
  expect([...new Set(groups)].sort()).toEqual([
    'Billing and refunds',
    'Installs and purchases',
    'Money',
    'Subscriptions',
    'Trials',
  ]);
  expect(json.data.charts[0]).toMatchObject({
    chart_id: 'revenue',
    metric_name: 'Revenue',
    kind: 'flow',
    unit: 'USD',
    keys: ['revenue', 'proceeds', 'net_revenue'],
  });
});

test('closed dimensions come with their values, the others without', async () => {
  const { json } = await service.call('GET', CATALOGUE);
  const find = (name: string) => json.data.dimensions.find((one: { name: string }) => one.name === name);
  expect(find('attribution_status').values).toContainEqual({ value: 'non_organic', title: 'Non-organic' });
  expect(find('attribution_campaign').values).toBeNull();
});

test('every chart accepts exactly the filters that the catalogue lists for it', async () => {
  const charts = await describeCharts();
  const all = [...new Set(charts.flatMap(({ filters }) => filters))];
  for (const { chart_id, filters } of charts) {
    const listed = Object.fromEntries(filters.map((name) => [name, []]));
    expect(await statusOf({ chart_id, filters: { date, ...listed } }), chart_id).toBe(200);
    for (const name of all.filter((one) => !filters.includes(one))) {
      expect(await statusOf({ chart_id, filters: { date, [name]: [] } }), `${chart_id} by ${name}`).toBe(400);
    }
  }
});

test('every chart accepts the segmentations that the catalogue lists for it: its refusals list the same', async () => {
  for (const { chart_id, segmentations } of await describeCharts()) {
    const body = { chart_id, segmentation: 'colour', filters: { date } };
    const { json } = await service.call('POST', CHARTS, { key: service.secretKey, body });
    expect(json.errors, chart_id).toEqual([
      { source: 'segmentation', errors: [`Must be one of: ${segmentations.join(', ')}.`] },
    ]);
  }
});

test('a chart accepts a comparison exactly if the catalogue says so', async () => {
  for (const { chart_id, compares } of await describeCharts()) {
    expect(await statusOf({ chart_id, filters: { date, compare_date: date } }), chart_id).toBe(compares ? 200 : 400);
  }
});

test('charts of endings, failures and refunds count losses', async () => {
  const { json } = await service.call('GET', CATALOGUE);
  const losses = (json.data.charts as ChartRecord[]).filter(countsLosses);
  expect(losses.map(({ chart_id }) => chart_id).sort()).toEqual([
    'billing_issue',
    'grace_period',
    'refund_events',
    'refund_money',
    'subscriptions_expired',
    'subscriptions_renewal_cancelled',
    'trials_expired',
    'trials_renewal_cancelled',
  ]);
});
