// What the service does not refuse in a chart request (analytics.md 3), and that the API reference accepts it, too.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { DATE } from './bad-requests.ts';
import { askChart, CHARTS_PATH } from './import.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { HEADER_ALIASES: 'acme' } });
});
afterAll(() => service.close());

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
    ['a value of 500 code points', { filters: { date: DATE, store: ['💡'.repeat(500)] } }],
    [
      'empty arrays and nulls as filters',
      { filters: { date: DATE, compare_date: null, store: [], country: null, offer_id: [] } },
    ],
    [
      'a filter of another variant that is null',
      { chart_id: 'installs', filters: { date: DATE, compare_date: null, offer_id: null } },
    ],
    ['the empty value of every filter', { filters: { date: DATE, country: [''], duration: [''], offer_type: [''] } }],
    ['a blank zone', {}, { 'service-tz': ' ' }],
    ['the service header before its alias', {}, { 'service-tz': 'UTC', 'acme-tz': 'Nowhere' }],
    ['a range long ago', { filters: { date: ['0001-01-01'] } }, { 'service-tz': 'Asia/Tokyo' }],
    ['a range in the future', { filters: { date: ['9999-12-31'] } }],
  ];

  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
  const ajv = new Ajv({ formats: { date: /^\d{4}-\d\d-\d\d$/ } });
  const isAsPublished = ajv.compile(paths[CHARTS_PATH].post.requestBody.content['application/json'].schema);

  test.each(GOOD)('%s, and so does the API reference', async (_name, members, headers) => {
    const body = { filters: { date: DATE }, ...members };
    const { status } = await askChart(service, body, headers);
    expect(status).toBe(200);
    expect(isAsPublished(body)).toBe(true);
  });

  test('the path without its slash', async () => {
    const options = { key: service.secretKey, body: { filters: { date: DATE } } };
    expect((await service.call('POST', CHARTS_PATH.slice(0, -1), options)).status).toBe(200);
  });
});
