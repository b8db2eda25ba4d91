// CSV answers: columns, quoting, comparison, and cells that a spreadsheet would otherwise run as formulas.
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setStore } from '../../src/apps/catalogue.ts';
import { startService, type TestService } from '../setup/service.ts';
import { askChart, importProfiles, importTransactions } from './import.ts';

const CAMPAIGNS = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', "'x", 'a,b', 'say "hi"', 'two\nlines', 'plain=1'];
let service: TestService;

beforeAll(async () => {
  service = await startService({ now: () => new Date('2025-06-15T12:00:00Z') });
  await importProfiles(service, [
    { customer_user_id: 'none', installed_at: '2025-01-05T00:00:00Z', store: 'app_store' },
    ...CAMPAIGNS.map((campaign, i) => ({
      customer_user_id: `p${i}`,
      installed_at: '2025-01-05T00:00:00Z',
      attribution: { status: 'organic', campaign },
    })),
  ]);
  await importTransactions(service, [
    {
      customer_user_id: 'none',
      purchase_type: 'one_time_purchase',
      store: 'app_store',
      store_product_id: 'coins',
      store_transaction_id: 't',
      store_original_transaction_id: 't',
      price: { country: 'DE', currency: 'USD', value: 0.1 },
      purchased_at: '2025-01-10T00:00:00Z',
      refunded_at: '2025-02-10T00:00:00Z',
      cancellation_reason: 'refund',
    },
  ]);
});
afterAll(() => service.close());

const askCsv = (body: object, headers: Record<string, string> = {}) =>
  askChart(service, { format: 'csv', ...body }, headers);

test('a CSV answer is an attachment with a row for each metric, series and bucket', async () => {
  const { status, headers, text } = await askCsv({
    segmentation: 'country',
    filters: { date: ['2025-01-01', '2025-02-28'] },
  });
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(headers['content-disposition']).toBe('attachment; filename="revenue_2025-01-01_2025-02-28.csv"');
  expect(headers['cache-control']).toBe('no-store');
  const rows = (metric: string, value: string) => [
    `revenue,${metric},total,,Total,2025-01-01T00:00:00.000000+0000,${value}`,
    `revenue,${metric},total,,Total,2025-02-01T00:00:00.000000+0000,-${value}`,
    `revenue,${metric},segment,de,Germany,2025-01-01T00:00:00.000000+0000,${value}`,
    `revenue,${metric},segment,de,Germany,2025-02-01T00:00:00.000000+0000,-${value}`,
  ];
  expect(text.split('\r\n')).toEqual([
    'chart_id,metric,series,segment,segment_title,period_start,value',
    ...rows('revenue', '0.1'),
    ...rows('proceeds', '0.07'),
    ...rows('net_revenue', '0.07'),
    '',
  ]);
});

test('with compare_date there are two more columns; the cells of the shorter span stay empty; all datetimes are in the zone', async () => {
  const filters = { date: ['2025-01-01', '2025-01-31'], compare_date: ['2025-01-01', '2025-02-28'] };
  const { text } = await askCsv({ chart_id: 'refund_events', filters }, { 'service-tz': 'Asia/Kathmandu' });
  expect(text.split('\r\n')).toEqual([
    'chart_id,metric,series,segment,segment_title,period_start,value,compare_period_start,compare_value',
    'refund_events,common,total,,Total,2025-01-01T00:00:00.000000+0545,0,2025-01-01T00:00:00.000000+0545,0',
    'refund_events,common,total,,Total,,,2025-02-01T00:00:00.000000+0545,1',
    '',
  ]);
});

test('free text is quoted, and never becomes a formula', async () => {
  const { text } = await askCsv({
    chart_id: 'installs',
    segmentation: 'attribution_campaign',
    filters: { date: ['2025-01-05'] },
  });
  const rows: string[][] = parse(text, { from_line: 2, record_delimiter: '\r\n' });
  const segments = rows.filter(([, , series]) => series === 'segment').map(([, , , segment]) => segment);
  expect(segments.sort()).toEqual(
    ['', "'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "'x", 'a,b', 'say "hi"', 'two\nlines', 'plain=1'].sort(),
  );
  expect(text).toContain('installs,common,segment,,Unknown,');
  expect(text).toContain('"say ""hi"""');
  expect(text).toContain(`"'\rx"`);
});

test('a title that an operator chose is treated as free text too', async () => {
  await setStore(service.deps, service.appId, { store: 'app_store', title: '=HYPERLINK("http://x")' });
  const { text } = await askCsv({ chart_id: 'installs', segmentation: 'store', filters: { date: ['2025-01-05'] } });
  expect(text).toContain(`installs,common,segment,app_store,"'=HYPERLINK(""http://x"")",`);
});

test('errors of a CSV request are JSON in the envelope', async () => {
  const { status, headers, json } = await askCsv({ filters: {} });
  expect([status, json.error_code]).toEqual([400, 'missing']);
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(headers['content-disposition']).toBeUndefined();
});
