// Bad filters of a chart request (analytics.md 3, decisions.md 1): one test for each rule.
import { afterAll, beforeAll, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { type Bad, DATE, expectRefusal, inFilters } from './bad-requests.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const many = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`);

const BAD: Bad[] = [
  { name: 'no filters', body: {}, source: 'filters', code: 'missing' },
  { name: 'filters null', body: { filters: null }, source: 'filters', code: 'missing' },
  { name: 'filters of a wrong type', body: { filters: [DATE] }, source: 'filters', code: 'type_error' },
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
    body: inFilters({ date: [...DATE, '2025-04-01'] }),
    source: 'filters.date',
    code: 'value_error',
  },
  { name: 'reversed dates', body: inFilters({ date: DATE.toReversed() }), source: 'filters.date', code: 'value_error' },
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
    body: inFilters({ compare_date: DATE.toReversed() }),
    source: 'filters.compare_date',
    code: 'value_error',
  },
  {
    name: 'three dates to compare with',
    body: inFilters({ compare_date: [...DATE, '2025-04-01'] }),
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
    body: inFilters({ compare_date: DATE }, { chart_id: 'installs' }),
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
];

test.each(BAD)('$name: $code on $source', (bad) => expectRefusal(service, bad));
