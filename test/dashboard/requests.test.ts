// What the page asks for a view: the days of presets and comparisons, and only what a chart supports.
import { describe, expect, test } from 'vitest';
import type { ChartRecord } from '../../src/dashboard/service/answers.ts';
import { type Preset, presetBefore, presetRange, rangeBefore, rangeYearBefore } from '../../src/dashboard/view/days.ts';
import { listUnapplied } from '../../src/dashboard/view/unapplied.ts';
import {
  type ChartView,
  type Comparison,
  changeView,
  chartView,
  fitToChart,
  switchChart,
  toRequest,
} from '../../src/dashboard/view/view.ts';

const CHART: ChartRecord = {
  chart_id: 'installs',
  metric_name: 'Installs',
  description: '',
  group: 'Installs',
  kind: 'flow',
  unit: 'count',
  segmentations: ['country'],
  filters: ['country', 'store'],
  compares: false,
};

describe('on 3 March 2024', () => {
  test.each<[Preset, string, string]>([
    ['last_7_days', '2024-02-26', '2024-03-03'],
    ['last_28_days', '2024-02-05', '2024-03-03'],
    ['last_90_days', '2023-12-05', '2024-03-03'],
    ['this_month', '2024-03-01', '2024-03-03'],
    ['last_month', '2024-02-01', '2024-02-29'],
    ['this_quarter', '2024-01-01', '2024-03-03'],
    ['last_quarter', '2023-10-01', '2023-12-31'],
    ['last_12_months', '2023-04-01', '2024-03-03'],
    ['this_year', '2024-01-01', '2024-03-03'],
  ])('%s is from %s to %s', (preset, first, last) => {
    expect(presetRange(preset, '2024-03-03')).toEqual({ first, last });
  });
});

test.each<[Preset, string, string, string]>([
  ['last_7_days', '2024-03-03', '2024-02-19', '2024-02-25'],
  ['last_28_days', '2024-03-03', '2024-01-08', '2024-02-04'],
  ['this_month', '2024-03-03', '2024-02-01', '2024-02-03'],
  ['this_month', '2024-03-31', '2024-02-01', '2024-02-29'],
  ['this_month', '2024-02-29', '2024-01-01', '2024-01-29'],
  ['last_month', '2026-11-27', '2026-09-01', '2026-09-30'],
  ['last_month', '2024-03-31', '2024-01-01', '2024-01-31'],
  ['last_month', '2025-01-15', '2024-11-01', '2024-11-30'],
  // These 28 days are the whole of February, but are counted in days all the same.
  ['last_28_days', '2023-02-28', '2023-01-04', '2023-01-31'],
  ['this_quarter', '2024-05-31', '2024-01-01', '2024-02-29'],
  ['last_quarter', '2024-05-31', '2023-10-01', '2023-12-31'],
  ['last_12_months', '2024-03-03', '2022-04-01', '2023-03-03'],
  ['this_year', '2024-02-29', '2023-01-01', '2023-02-28'],
])('the period before %s, seen on %s, is from %s to %s', (preset, today, first, last) => {
  expect(presetBefore(preset, today)).toEqual({ first, last });
});

test('last month of January is December of the year before', () => {
  expect(presetRange('last_month', '2025-01-15')).toEqual({ first: '2024-12-01', last: '2024-12-31' });
});

test('the period before has as many days and ends where the range begins', () => {
  const range = { first: '2024-03-01', last: '2024-03-10' };
  expect(rangeBefore(range, '2024-03-10')).toEqual({ first: '2024-02-20', last: '2024-02-29' });
});

test.each([
  ['2026-07-01', '2026-09-30', '2026-04-01', '2026-06-30', '2025-07-01', '2025-09-30'],
  ['2026-03-01', '2026-03-31', '2026-02-01', '2026-02-28', '2025-03-01', '2025-03-31'],
  ['2025-02-01', '2025-02-28', '2025-01-01', '2025-01-31', '2024-02-01', '2024-02-29'],
  ['2025-01-01', '2025-12-31', '2024-01-01', '2024-12-31', '2024-01-01', '2024-12-31'],
  ['2025-12-01', '2026-01-31', '2025-10-01', '2025-11-30', '2024-12-01', '2025-01-31'],
])('the whole months from %s to %s: before them %s to %s, a year before %s to %s', (first, last, ...others) => {
  const [before, end, yearBefore, yearEnd] = others;
  expect(rangeBefore({ first, last }, '2026-11-30')).toEqual({ first: before, last: end });
  expect(rangeYearBefore({ first, last })).toEqual({ first: yearBefore, last: yearEnd });
});

test('a year before 29 February is 28 February', () => {
  expect(rangeYearBefore({ first: '2024-02-29', last: '2024-03-10' })).toEqual({
    first: '2023-02-28',
    last: '2023-03-10',
  });
  expect(rangeYearBefore({ first: '2024-12-31', last: '2025-01-01' })).toEqual({
    first: '2023-12-31',
    last: '2024-01-01',
  });
});

test('the request of a view is that of the interface, dates first', () => {
  const view = {
    ...chartView('revenue'),
    compare: 'previous' as const,
    segmentation: 'country',
    filters: { store: ['stripe'] },
  };
  expect(toRequest(view, '2025-01-28')).toEqual({
    chart_id: 'revenue',
    period_unit: 'day',
    date_type: 'purchase_date',
    segmentation: 'country',
    filters: { date: ['2025-01-01', '2025-01-28'], compare_date: ['2024-12-04', '2024-12-31'], store: ['stripe'] },
  });
});

test.each([
  ['last_month' as const, ['2024-12-01', '2024-12-31'], ['2024-11-01', '2024-11-30']],
  [{ first: '2024-12-01', last: '2024-12-31' }, ['2024-12-01', '2024-12-31'], ['2024-11-01', '2024-11-30']],
  [{ first: '2024-12-01', last: '2024-12-30' }, ['2024-12-01', '2024-12-30'], ['2024-11-01', '2024-11-30']],
  [{ first: '2024-12-02', last: '2024-12-31' }, ['2024-12-02', '2024-12-31'], ['2024-11-02', '2024-12-01']],
])('the previous period of %o: %j is compared with %j', (range, date, compare_date) => {
  const view = { ...chartView('revenue'), range, compare: 'previous' as const };
  expect(toRequest(view, '2025-01-15').filters).toEqual({ date, compare_date });
});

test.each([
  ['2025-01-11', '2025-01-20', ['2025-01-01', '2025-01-05'], ['2024-01-11', '2024-01-15']],
  ['2025-01-15', '2025-01-15', ['2025-01-14', '2025-01-14'], ['2024-01-15', '2024-01-15']],
  ['2024-12-01', '2025-01-31', ['2024-10-01', '2024-11-15'], ['2023-12-01', '2024-01-15']],
  ['2025-01-01', '2025-12-31', ['2024-01-01', '2024-01-15'], ['2024-01-01', '2024-01-15']],
  ['2025-01-16', '2025-01-20', undefined, undefined],
  ['2025-02-01', '2025-02-28', undefined, undefined],
])(
  'the part of %s to %s that has begun by 15 January is compared with the same part',
  (first, last, before, yearBefore) => {
    const asked = (compare: Comparison) =>
      toRequest({ ...chartView('revenue'), range: { first, last }, compare }, '2025-01-15').filters;
    const date = [first, last];
    expect(asked('previous')).toEqual({ date, ...(before && { compare_date: before }) });
    expect(asked('year_before')).toEqual({ date, ...(yearBefore && { compare_date: yearBefore }) });
  },
);

test('if the previous month is shorter, the part that has begun is compared with all of it', () => {
  const march = { first: '2025-03-01', last: '2025-03-31' };
  expect(rangeBefore(march, '2025-03-30')).toEqual({ first: '2025-02-01', last: '2025-02-28' });
});

describe('what a chart does not support', () => {
  const view = {
    ...chartView('revenue'),
    range: 'this_year' as const,
    segmentation: 'offer_type',
    filters: { country: ['us'], offer_id: ['half'] },
    compare: 'previous' as const,
    zone: 'UTC',
    series: ['total'],
  };

  test('is not requested', () => {
    const fitted = { segmentation: null, filters: { country: ['us'] }, compare: null, range: 'this_year', zone: 'UTC' };
    expect(fitToChart(view, CHART)).toMatchObject({ ...fitted, chart_id: 'installs', series: ['total'] });
  });

  test('stays when the chart is switched or another filter is chosen', () => {
    const there = switchChart(view, CHART);
    expect(there).toEqual({ ...view, chart_id: 'installs', series: null });
    expect(changeView(there, { period_unit: 'week' })).toEqual({ ...there, period_unit: 'week' });
    expect(changeView(there, { filters: { store: ['stripe'], country: [] } }).filters).toEqual({
      offer_id: ['half'],
      store: ['stripe'],
    });
  });

  const titleOf = (name: string) => name.toUpperCase();

  /** Lists what the chart does not apply, each with the view that is left when it is removed from `from`. */
  const removed = (of: ChartView, from = of) =>
    listUnapplied(of, CHART, titleOf).map(({ title, removal }) => ({ title, view: changeView(from, removal) }));

  test('is named and can be removed', () => {
    expect(removed(view)).toEqual([
      { title: 'OFFER_ID', view: { ...view, filters: { country: ['us'] } } },
      { title: 'segmentation by OFFER_TYPE', view: { ...view, segmentation: null, series: null } },
      { title: 'comparison', view: { ...view, compare: null } },
    ]);
    expect(removed(chartView('installs'))).toEqual([]);
  });

  test('is removed from the view as it is by then', () => {
    const now: ChartView = { ...view, period_unit: 'week', filters: { ...view.filters, country: ['de'] } };
    expect(removed(view, now).map((one) => one.view)).toEqual([
      { ...now, filters: { country: ['de'] } },
      { ...now, segmentation: null, series: null },
      { ...now, compare: null },
    ]);
  });

  test.each(['colour', 'toString', '__proto__'])('includes a filter by %s', (name) => {
    const usual = chartView('installs');
    const filtered = { ...usual, filters: Object.fromEntries([[name, ['red']]]) };
    expect(removed(filtered)).toEqual([{ title: name.toUpperCase(), view: usual }]);
  });
});
