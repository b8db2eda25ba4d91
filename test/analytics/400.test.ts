// Bad requests (analytics.md 3, decisions.md 1): one test for each rule, and a check that nothing else is refused.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { askChart, CHARTS_PATH } from './import.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { HEADER_ALIASES: 'acme' } });
});
afterAll(() => service.close());

const date = ['2025-01-01', '2025-03-31'];

interface Bad {
  name: string;
  /** The whole body of the request; `inFilters` adds a valid `date`. */
  body: unknown;
  headers?: Record<string, string>;
  source: string;
  code: string;
  /** A text that the message must contain. */
  says?: string;
}

const inFilters = (filters: object, members: object = {}) => ({ filters: { date, ...filters }, ...members });
const many = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`);

const BAD: Bad[] = [
  { name: 'no filters', body: {}, source: 'filters', code: 'missing' },
  { name: 'filters null', body: { filters: null }, source: 'filters', code: 'missing' },
  { name: 'filters of a wrong type', body: { filters: [date] }, source: 'filters', code: 'type_error' },
  { name: 'no date', body: { filters: {} }, source: 'filters.date', code: 'missing' },
  { name: 'date null', body: inFilters({ date: null }), source: 'filters.date', code: 'missing' },
  { name: 'date as a string', body: inFilters({ date: '2025-01-01' }), source: 'filters.date', code: 'type_error' },
  {
    name: 'a date that is a number',
    body: inFilters({ date: [20250101] }),
    source: 'filters.date',
    code: 'type_error',
  },
  { name: 'no day at all', body: inFilters({ date: [] }), source: 'filters.date', code: 'value_error' },
  {
    name: 'three dates',
    body: inFilters({ date: [...date, '2025-04-01'] }),
    source: 'filters.date',
    code: 'value_error',
  },
  { name: 'reversed dates', body: inFilters({ date: date.toReversed() }), source: 'filters.date', code: 'value_error' },
  { name: 'no such day', body: inFilters({ date: ['2025-02-29'] }), source: 'filters.date', code: 'datetime' },
  {
    name: 'a datetime',
    body: inFilters({ date: ['2025-02-28T00:00:00Z'] }),
    source: 'filters.date',
    code: 'datetime',
    says: 'YYYY-MM-DD',
  },
  { name: 'the year 0000', body: inFilters({ date: ['0000-01-01'] }), source: 'filters.date', code: 'datetime' },
  {
    name: 'ten years and a day',
    body: inFilters({ date: ['2015-01-01', '2025-01-01'] }),
    source: 'filters.date',
    code: 'value_error',
    says: '10 years',
  },
  {
    name: '1,001 buckets',
    body: inFilters({ date: ['2022-01-01', '2024-09-27'] }, { period_unit: 'day' }),
    source: 'filters.date',
    code: 'value_error',
    says: '1000',
  },
  {
    name: 'a reversed compare_date',
    body: inFilters({ compare_date: date.toReversed() }),
    source: 'filters.compare_date',
    code: 'value_error',
  },
  {
    name: 'three dates to compare with',
    body: inFilters({ compare_date: [...date, '2025-04-01'] }),
    source: 'filters.compare_date',
    code: 'value_error',
  },
  {
    name: 'a compare_date of ten years and a day',
    body: inFilters({ compare_date: ['2015-01-01', '2025-01-01'] }),
    source: 'filters.compare_date',
    code: 'value_error',
    says: '10 years',
  },
  {
    name: 'a compare_date of 1,001 buckets',
    body: inFilters({ compare_date: ['2022-01-01', '2024-09-27'] }, { period_unit: 'day' }),
    source: 'filters.compare_date',
    code: 'value_error',
    says: '1000',
  },
  {
    name: 'compare_date where the variant has none',
    body: inFilters({ compare_date: date }, { chart_id: 'installs' }),
    source: 'filters.compare_date',
    code: 'value_error',
  },
  {
    name: 'a filter not of this variant',
    body: inFilters({ offer_id: ['a'] }, { chart_id: 'grace_period' }),
    source: 'filters.offer_id',
    code: 'value_error',
    says: 'store_product_id',
  },
  {
    name: 'a filter not of this variant, empty',
    body: inFilters({ duration: [] }, { chart_id: 'arpu' }),
    source: 'filters.duration',
    code: 'value_error',
  },
  {
    name: 'a misspelt filter',
    body: inFilters({ contry: ['us'] }),
    source: 'filters.contry',
    code: 'value_error',
    says: 'country',
  },
  { name: 'a misspelt filter, null', body: inFilters({ contry: null }), source: 'filters.contry', code: 'value_error' },
  {
    name: 'a segmentation as filter',
    body: inFilters({ period: ['trial'] }),
    source: 'filters.period',
    code: 'value_error',
  },
  {
    name: 'a filter that is a string',
    body: inFilters({ store: 'app_store' }),
    source: 'filters.store',
    code: 'type_error',
  },
  {
    name: 'a filter with a null',
    body: inFilters({ store: ['app_store', null] }),
    source: 'filters.store',
    code: 'type_error',
  },
  {
    name: 'a misspelt closed value',
    body: inFilters({ attribution_status: ['organik'] }),
    source: 'filters.attribution_status',
    code: 'enum',
    says: 'organic, non_organic, unknown',
  },
  {
    name: 'an unknown duration',
    body: inFilters({ duration: ['Monthly', 'yearly'] }),
    source: 'filters.duration',
    code: 'enum',
    says: 'Annual',
  },
  {
    name: 'an unknown offer category',
    body: inFilters({ offer_category: ['intro'] }),
    source: 'filters.offer_category',
    code: 'enum',
    says: 'introductory',
  },
  {
    name: 'an unknown offer type',
    body: inFilters({ offer_type: ['trial'] }),
    source: 'filters.offer_type',
    code: 'enum',
    says: 'free_trial',
  },
  {
    name: 'a member of every object as offer category',
    body: inFilters({ offer_category: ['constructor'] }),
    source: 'filters.offer_category',
    code: 'enum',
    says: 'win_back, retention, no_offer, winback.',
  },
  {
    name: 'a member of every object as offer type',
    body: inFilters({ offer_type: ['__proto__'] }),
    source: 'filters.offer_type',
    code: 'enum',
    says: 'pay_up_front, no_offer.',
  },
  {
    name: 'a country of three letters',
    body: inFilters({ country: ['USA'] }),
    source: 'filters.country',
    code: 'value_error',
  },
  {
    name: 'a country with a digit',
    body: inFilters({ country: ['U1'] }),
    source: 'filters.country',
    code: 'value_error',
  },
  {
    name: '1,001 values',
    body: inFilters({ store: many(1001) }),
    source: 'filters.store',
    code: 'value_error',
    says: '1000',
  },
  {
    name: 'a value of 501 characters',
    body: inFilters({ store: ['x'.repeat(501)] }),
    source: 'filters.store',
    code: 'value_error',
    says: '500',
  },
  {
    name: 'U+0000 in a value',
    body: inFilters({ attribution_channel: ['a\u0000b'] }),
    source: 'filters.attribution_channel',
    code: 'value_error',
    says: 'U+0000',
  },
  {
    name: 'lists nested more deeply than a stack reaches',
    body: `{"filters":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    source: 'filters',
    code: 'type_error',
  },
  {
    name: 'a value nested more deeply than a stack reaches',
    body: `{"filters":{"date":["2025-01-01"],"store":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
    source: 'filters.store',
    code: 'type_error',
  },
  {
    name: 'an unpaired surrogate',
    body: `{"filters":{"date":["2025-01-01"],"store":["\\ud800"]}}`,
    source: 'filters.store',
    code: 'value_error',
  },
  { name: 'a filter of the empty name', body: inFilters({ '': 1 }), source: 'filters.', code: 'value_error' },
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
    says: 'segmentation',
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

test.each(BAD)('$name: $code on $source', async ({ body, headers, source, code, says }) => {
  const { status, json } = await askChart(service, body, headers);
  expect(status).toBe(400);
  expect(json.errors.map((one: { source: string }) => one.source)).toEqual([source]);
  expect(json).toMatchObject({ error_code: code, status_code: 400 });
  if (says !== undefined) expect(json.errors[0].errors[0]).toContain(says);
});

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
      compare_date: date,
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
  const values = (length: number) => ({ filters: { date, store: Array.from({ length }, () => 'x'.repeat(400)) } });
  expect((await askChart(service, values(1000))).status).toBe(200);
  const largest = JSON.stringify({ filters: { date } }).padEnd(1024 * 1024);
  expect((await askChart(service, largest)).status).toBe(200);
  expect((await askChart(service, `${largest} `)).status).toBe(413);
});

describe('the service accepts', () => {
  const GOOD: [string, object, Record<string, string>?][] = [
    ['only a date', {}],
    [
      'nulls in addition to filters',
      { chart_id: null, period_unit: null, date_type: null, segmentation: null, format: null },
    ],
    ['plural units', { period_unit: 'weeks' }],
    ['exactly ten years', { filters: { date: ['2015-01-01', '2024-12-31'] } }],
    ['exactly 1,000 buckets', { filters: { date: ['2022-01-01', '2024-09-26'] }, period_unit: 'days' }],
    ['a value of 500 code points', { filters: { date, store: ['💡'.repeat(500)] } }],
    [
      'empty arrays and nulls as filters',
      { filters: { date, compare_date: null, store: [], country: null, offer_id: [] } },
    ],
    [
      'a filter of another variant that is null',
      { chart_id: 'installs', filters: { date, compare_date: null, offer_id: null } },
    ],
    ['the empty value of every filter', { filters: { date, country: [''], duration: [''], offer_type: [''] } }],
    ['a blank zone', {}, { 'service-tz': ' ' }],
    ['the service header before its alias', {}, { 'service-tz': 'UTC', 'acme-tz': 'Nowhere' }],
    ['a range long ago', { filters: { date: ['0001-01-01'] } }, { 'service-tz': 'Asia/Tokyo' }],
    ['a range in the future', { filters: { date: ['9999-12-31'] } }],
  ];

  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
  const ajv = new Ajv({ formats: { date: /^\d{4}-\d\d-\d\d$/ } });
  const isAsPublished = ajv.compile(paths[CHARTS_PATH].post.requestBody.content['application/json'].schema);

  test.each(GOOD)('%s, and so does the API reference', async (_name, members, headers) => {
    const body = { filters: { date }, ...members };
    const { status } = await askChart(service, body, headers);
    expect(status).toBe(200);
    expect(isAsPublished(body)).toBe(true);
  });

  test('the path without its slash', async () => {
    const options = { key: service.secretKey, body: { filters: { date } } };
    expect((await service.call('POST', CHARTS_PATH.slice(0, -1), options)).status).toBe(200);
  });
});

test('only the first hundred errors of a body are reported', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 1]));
  const answer = await askChart(service, { filters: { date, ...unknown } });
  expect(answer.status).toBe(400);
  expect(answer.json.errors).toHaveLength(100);
  expect(answer.text.length).toBeLessThan(100_000);
});
