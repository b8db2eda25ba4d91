// Bad requests for a chart beyond their filters: members, headers, several faults at once, and whole bodies
// (analytics.md 3, decisions.md 1).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { type Bad, DATE, expectRefusal, inFilters } from './bad-requests.ts';
import { askChart } from './import.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { HEADER_ALIASES: 'acme' } });
});
afterAll(() => service.close());

const BAD: Bad[] = [
  {
    name: 'a member whose name is an unpaired surrogate',
    body: '{"filters":{"date":["2025-01-01"]},"\\ud800":1}',
    source: '\ufffd',
    code: 'value_error',
  },
  {
    name: 'a member of a long name',
    body: inFilters({}, { ['x'.repeat(2_000)]: 1 }),
    source: 'x'.repeat(500),
    code: 'value_error',
  },
  {
    name: 'an unknown chart',
    body: inFilters({}, { chart_id: 'churn' }),
    source: 'chart_id',
    code: 'enum',
    says: 'subscriptions_renewal_cancelled',
  },
  { name: 'a chart that is a number', body: inFilters({}, { chart_id: 5 }), source: 'chart_id', code: 'type_error' },
  {
    name: 'a member of every object as chart',
    body: inFilters({}, { chart_id: 'constructor' }),
    source: 'chart_id',
    code: 'enum',
  },
  {
    name: 'an unknown period_unit',
    body: inFilters({}, { period_unit: 'hour' }),
    source: 'period_unit',
    code: 'enum',
    says: 'day, week, month, quarter, year, days, weeks, months, quarters, years',
  },
  {
    name: 'an unknown date_type',
    body: inFilters({}, { date_type: 'expiry_date' }),
    source: 'date_type',
    code: 'enum',
    says: 'purchase_date, profile_install_date',
  },
  {
    name: 'a segmentation not of this chart',
    body: inFilters({}, { chart_id: 'arpu', segmentation: 'duration' }),
    source: 'segmentation',
    code: 'enum',
    says: 'attribution_source, period',
  },
  {
    name: 'an unknown segmentation',
    body: inFilters({}, { segmentation: 'city' }),
    source: 'segmentation',
    code: 'enum',
  },
  {
    name: 'U+0000 in a segmentation',
    body: inFilters({}, { segmentation: 'country\u0000' }),
    source: 'segmentation',
    code: 'value_error',
  },
  { name: 'an empty segmentation', body: inFilters({}, { segmentation: '' }), source: 'segmentation', code: 'enum' },
  {
    name: 'an unknown format',
    body: inFilters({}, { format: 'xlsx' }),
    source: 'format',
    code: 'enum',
    says: 'json, csv',
  },
  {
    name: 'an unknown member',
    body: inFilters({}, { segmentaton: 'country' }),
    source: 'segmentaton',
    code: 'value_error',
    says: 'Unknown field; known fields are: filters, chart_id, period_unit, date_type, segmentation, format.',
  },
  { name: 'an unknown member, null', body: inFilters({}, { limit: null }), source: 'limit', code: 'value_error' },
  {
    name: 'an unknown zone',
    body: inFilters({}),
    headers: { 'service-tz': 'Europe/Atlantis' },
    source: 'service-tz',
    code: 'value_error',
    says: 'IANA',
  },
  {
    name: 'a zone as an offset',
    body: inFilters({}),
    headers: { 'service-tz': '+02:00' },
    source: 'service-tz',
    code: 'value_error',
  },
  {
    name: 'an alias of the zone header',
    body: inFilters({}),
    headers: { 'acme-tz': 'Nowhere' },
    source: 'acme-tz',
    code: 'value_error',
  },
];

test.each(BAD)('$name: $code on $source', (bad) => expectRefusal(service, bad));

test('every offending field is reported once, in the order of the tables; the code is that of the first', async () => {
  const body = {
    format: 'pdf',
    extra: 1,
    chart_id: 'installs',
    segmentation: 'duration',
    date_type: 1,
    period_unit: 'hour',
    filters: {
      colour: ['red'],
      offer_id: ['x'],
      attribution_status: ['x', 'y'],
      country: ['Germany'],
      compare_date: DATE,
      store: 1,
      date: ['soon'],
    },
  };
  const { status, json } = await askChart(service, body, { 'service-tz': 'Nowhere' });
  expect(status).toBe(400);
  expect(json.error_code).toBe('datetime');
  expect(json.errors.map((one: { source: string }) => one.source)).toEqual([
    'filters.date',
    'filters.compare_date',
    'filters.store',
    'filters.country',
    'filters.attribution_status',
    'filters.offer_id',
    'filters.colour',
    'period_unit',
    'date_type',
    'segmentation',
    'format',
    'extra',
    'service-tz',
  ]);
});

test.each([
  ['[]', 'type_error', 'non_field_errors'],
  ['null', 'type_error', 'non_field_errors'],
  ['"x"', 'type_error', 'non_field_errors'],
  ['{', 'parse_error', null],
  ['', 'parse_error', null],
])('body %j: %s', async (body, code, source) => {
  const { status, json } = await askChart(service, body);
  expect([status, json.error_code, json.errors[0].source]).toEqual([400, code, source]);
});

test('a body of more than 64 KiB is read, one of more than 1 MiB is refused', async () => {
  const values = (length: number) => ({
    filters: { date: DATE, store: Array.from({ length }, () => 'x'.repeat(400)) },
  });
  expect((await askChart(service, values(1000))).status).toBe(200);
  const largest = JSON.stringify({ filters: { date: DATE } }).padEnd(1024 * 1024);
  expect((await askChart(service, largest)).status).toBe(200);
  expect((await askChart(service, `${largest} `)).status).toBe(413);
});

test('only the first hundred errors of a body are reported', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 1]));
  const response = await askChart(service, { filters: { date: DATE, ...unknown } });
  expect(response.status).toBe(400);
  expect(response.json.errors).toHaveLength(100);
  expect(response.text.length).toBeLessThan(100_000);
});
