// Checks the catalogue against the tables of the interface, and the document that is rendered from it.
import { describe, expect, test } from 'vitest';
import { CHART_IDS, chart, filtersOf, metricKeysOf, segmentationsOf, unitOf } from '../../src/analytics/catalogue.ts';
import { EVERY_SEGMENTATION } from '../../src/analytics/chart-options.ts';
import { dimension, readFilterValue } from '../../src/analytics/dimensions.ts';
import { renderReference } from '../../src/analytics/reference.ts';
import { titleOfSeries } from '../../src/analytics/titles.ts';
import { OFFER_CATEGORIES, OFFER_TYPES } from '../../src/facts/values.ts';
import { filterMembersOf, SEGMENTATION_TABLE } from './interface-tables.ts';

test('the charts are those of the segmentation table, 19 of them', () => {
  expect([...CHART_IDS].sort()).toEqual(SEGMENTATION_TABLE.flatMap(([charts]) => charts).sort());
  expect(CHART_IDS).toHaveLength(19);
});

describe.each(CHART_IDS)('%s', (id) => {
  test('takes the segmentations of the interface', () => {
    const row = SEGMENTATION_TABLE.find(([charts]) => charts.includes(id))!;
    expect(segmentationsOf(chart(id)).join(', ')).toBe(row[1]);
  });

  test('takes the filters of the interface', () => {
    const { dimensions, compares } = filtersOf(chart(id));
    expect(['date', ...(compares ? ['compare_date'] : []), ...dimensions]).toEqual(filterMembersOf(id));
  });
});

test('money charts answer on three bases, other charts under one key', () => {
  const inUsd = CHART_IDS.filter((id) => unitOf(chart(id)) === 'USD');
  expect(inUsd).toEqual(['revenue', 'mrr', 'arr', 'arpu', 'arppu', 'refund_money']);
  expect(metricKeysOf(chart('mrr'))).toEqual(['revenue', 'proceeds', 'net_revenue']);
  expect(metricKeysOf(chart('installs'))).toEqual(['common']);
});

test('offer filters accept the values that transaction records can have', () => {
  expect(dimension('offer_category').closed).toEqual(OFFER_CATEGORIES);
  expect(dimension('offer_type').closed).toEqual(OFFER_TYPES);
});

test.each([
  ['attribution_status', 'Non-Organic', 'non_organic'],
  ['offer_category', 'winback', 'win_back'],
  ['offer_category', 'NO_OFFER', ''],
  ['offer_type', 'no_offer', ''],
  ['duration', '2 Months', '2 months'],
  ['duration', 'annual', 'Annual'],
  ['country', 'De', 'de'],
  ['country', 'deu', undefined],
  ['duration', 'yearly', undefined],
  ['duration', '2_months', undefined],
  ['offer_type', 'free trial', undefined],
  ['attribution_status', 'organc', undefined],
  ['attribution_campaign', 'Spring', 'Spring'],
  ['store', 'App_Store', 'App_Store'],
  ['offer_id', 'no_offer', 'no_offer'],
] as const)('filter %s: %s reads as %s', (name, value, expected) => {
  expect(readFilterValue(dimension(name), value)).toBe(expected);
});

test('in every dimension, the empty value selects what has no value', () => {
  for (const name of EVERY_SEGMENTATION) expect(readFilterValue(dimension(name), '')).toBe('');
});

test.each([
  ['country', 'us', 'United States'],
  ['country', 'zq', 'ZQ'],
  ['store', 'app_store', 'App Store'],
  ['store', 'play_store', 'Play Store'],
  ['store', 'acme', 'acme'],
  ['store', 'constructor', 'constructor'],
  ['attribution_status', 'non_organic', 'Non-organic'],
  ['attribution_campaign', 'spring_sale', 'spring_sale'],
  ['period', 'renewal_6_plus', 'Renewal 6+'],
  ['period', 'renewal_1', 'Renewal 1'],
  ['renewal_status', 'will_not_renew', 'Will not renew'],
  ['duration', '6 months', '6 months'],
  ['offer_category', '', 'Unknown'],
] as const)('%s %s is called %s', (name, segment, title) => {
  expect(titleOfSeries(dimension(name), { place: 'segment', segment }, new Map())).toBe(title);
});

test('docs/charts.md is rendered from the catalogue', async () => {
  await expect(renderReference()).toMatchFileSnapshot('../../docs/charts.md');
});
