// The whole view is in the address: whatever it contains, what is written there can be read back.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAddress, writeAddress } from '../../src/dashboard/view/address.ts';
import { type DayRange, PRESETS } from '../../src/dashboard/view/days.ts';
import {
  type ChartView,
  COMPARISONS,
  chartView,
  DATE_TYPES,
  DRAWINGS,
  type FeedView,
  MONEY_BASES,
  PERIOD_UNITS,
} from '../../src/dashboard/view/view.ts';

const day = fc
  .integer({ min: 0, max: 40_000 })
  .map((number) => new Date(number * 86_400_000).toISOString().slice(0, 10));
const range: fc.Arbitrary<DayRange> = fc
  .tuple(day, day)
  .map(([one, other]) => (one <= other ? { first: one, last: other } : { first: other, last: one }));
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const name = fc.stringMatching(/^[a-z_]{1,20}$/).filter((one) => !(one in {}));

const view: fc.Arbitrary<ChartView> = fc.record({
  page: fc.constant('chart' as const),
  chart_id: name,
  range: fc.oneof(fc.constantFrom(...PRESETS), range),
  period_unit: fc.constantFrom(...PERIOD_UNITS),
  date_type: fc.constantFrom(...DATE_TYPES),
  segmentation: maybe(name),
  filters: fc.dictionary(name, fc.array(fc.oneof(text, fc.constant('')), { minLength: 1, maxLength: 4 }), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
  compare: maybe(fc.oneof(fc.constantFrom(...COMPARISONS), range)),
  money: fc.constantFrom(...MONEY_BASES),
  zone: maybe(fc.constantFrom('UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires')),
  drawing: maybe(fc.constantFrom(...DRAWINGS)),
  series: maybe(
    fc.array(
      text.map((value) => `=${value}`),
      { minLength: 1, maxLength: 4 },
    ),
  ),
});

describe('a chart', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(view, (one) => {
        expect(readAddress(writeAddress(one))).toEqual(one);
      }),
    );
  });

  test('has in its address what differs from the defaults, under the names of the request', () => {
    expect(writeAddress(chartView('mrr'))).toBe('#/charts/mrr');
    expect(
      writeAddress({ ...chartView('mrr'), period_unit: 'month', filters: { country: ['us', ''] }, zone: 'Asia/Tokyo' }),
    ).toBe('#/charts/mrr?period_unit=month&filters.country=us&filters.country=&zone=Asia%2FTokyo');
  });

  test('no series at all is a different choice from the default series', () => {
    const none = { ...chartView('mrr'), series: [] };
    expect(readAddress(writeAddress(none))).toEqual(none);
  });

  test.each([
    ['date=yesterday', { range: 'last_28_days' }],
    ['date=2025-02-30_to_2025-03-01', { range: 'last_28_days' }],
    ['date=2025-03-02_to_2025-03-01', { range: 'last_28_days' }],
    ['date=2025-03-01_to_2025-03-02', { range: { first: '2025-03-01', last: '2025-03-02' } }],
    ['zone=Asia%2FTokyo', { zone: 'Asia/Tokyo' }],
    ['zone=%E6%9D%B1%E4%BA%AC', { zone: null }],
    ['zone=Europe%2FZ%C3%BCrich', { zone: null }],
    ['zone=a%0Ab', { zone: null }],
    ['period_unit=fortnight&money=gold&drawing=pie', { period_unit: 'day', money: 'revenue', drawing: null }],
  ])('%s is read as %o', (members, expected) => {
    expect(readAddress(`#/charts/revenue?${members}`)).toMatchObject(expected);
  });

  test('a filter without a name counts as absent', () => {
    expect(readAddress('#/charts/mrr?filters.=us&filters=us')).toEqual(chartView('mrr'));
  });
});

test('the event feed is read as it was written', () => {
  const feed = fc.record({
    page: fc.constant('events' as const),
    event_type: maybe(text),
    customer_user_id: maybe(text),
    profile_id: maybe(text),
  });
  fc.assert(
    fc.property(feed, (one: FeedView) => {
      expect(readAddress(writeAddress(one))).toEqual(one);
    }),
  );
});

test.each(['', '#', '#/', '#/charts', '#/charts/', '#/elsewhere?x=1'])('%j is the overview', (fragment) => {
  expect(readAddress(fragment)).toEqual({ page: 'overview' });
});
