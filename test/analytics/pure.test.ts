// The edge cases of pure code: ranges and buckets, exact figures.
import { describe, expect, test } from 'vitest';
import {
  countBuckets,
  cutSpan,
  formatDate,
  listEdges,
  makeSpan,
  type PeriodUnit,
  parseDate,
} from '../../src/analytics/calendar.ts';
import { rangesBetween, rangesOfMonths } from '../../src/analytics/month-ranges.ts';
import { formatMicros, microsToUsd, toMicros } from '../../src/lib/money.ts';
import { findZone } from '../../src/lib/zone.ts';

const day = (date: string) => parseDate(date)!;
const edges = (first: string, last: string, unit: PeriodUnit) =>
  listEdges({ first: day(first), last: day(last) }, unit).map(formatDate);

test.each([
  ['2024-02-29', true],
  ['2025-02-29', false],
  ['2025-02-30', false],
  ['2025-13-01', false],
  ['2025-00-10', false],
  ['2025-1-1', false],
  ['20250101', false],
  ['2025-01-01 ', false],
  ['-2025-01-01', false],
  ['0000-12-31', false],
  ['0001-01-01', true],
  ['9999-12-31', true],
])('%s is a date: %s', (text, isDate) => {
  expect(parseDate(text) !== undefined).toBe(isDate);
});

test('consecutive months form one range, and a missing month lies between two ranges', () => {
  const ranges = rangesOfMonths(['2024-12-01', '2025-01-01', '2025-03-01'].map(day));
  const [first, gap, next, end] = ['2024-12-01', '2025-02-01', '2025-03-01', '2025-04-01'].map(day);
  expect(ranges).toEqual([
    [first, gap],
    [next, end],
  ]);
  expect(rangesBetween(ranges)).toEqual([
    [null, first],
    [gap, next],
    [end, null],
  ]);
  expect(rangesBetween([])).toEqual([[null, null]]);
});

describe('edges', () => {
  test.each([
    ['day', '2024-02-28', '2024-03-01', ['2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02']],
    ['week', '2024-12-26', '2025-01-06', ['2024-12-26', '2024-12-30', '2025-01-06', '2025-01-07']],
    ['week', '1969-12-28', '1970-01-05', ['1969-12-28', '1969-12-29', '1970-01-05', '1970-01-06']],
    ['month', '2025-01-31', '2025-03-01', ['2025-01-31', '2025-02-01', '2025-03-01', '2025-03-02']],
    ['month', '2024-12-01', '2024-12-31', ['2024-12-01', '2025-01-01']],
    ['quarter', '2025-02-10', '2025-07-01', ['2025-02-10', '2025-04-01', '2025-07-01', '2025-07-02']],
    ['year', '2023-12-31', '2025-01-01', ['2023-12-31', '2024-01-01', '2025-01-01', '2025-01-02']],
    ['year', '0099-05-01', '0100-05-01', ['0099-05-01', '0100-01-01', '0100-05-02']],
  ] as const)('%s from %s to %s', (unit, first, last, expected) => {
    expect(edges(first, last, unit)).toEqual(expected);
  });
});

describe('a span', () => {
  const zone = findZone('UTC')!;
  const span = (first: string, last: string, now: string) =>
    makeSpan({ first: day(first), last: day(last) }, { unit: 'day', zone, now: Date.parse(now) });

  test('has a bucket that begins now, but none that begins later', () => {
    expect(countBuckets(span('2025-01-01', '2025-01-03', '2025-01-02T00:00:00Z'))).toBe(2);
    expect(countBuckets(span('2025-01-01', '2025-01-03', '2025-01-01T23:59:59.999Z'))).toBe(1);
    expect(countBuckets(span('2025-01-01', '2025-01-03', '2024-12-31T23:59:59Z'))).toBe(0);
  });

  test('reaches now only if its last bucket is not over', () => {
    expect(span('2025-01-01', '2025-01-03', '2025-01-03T12:00:00Z').reachesNow).toBe(true);
    expect(span('2025-01-01', '2025-01-03', '2025-01-04T00:00:00Z').reachesNow).toBe(false);
    expect(span('2025-01-01', '2025-01-03', '2024-01-01T00:00:00Z').reachesNow).toBe(false);
  });

  test('is cut into pieces that have its buckets, and only the last of them reaches now', () => {
    const days = (first: string, ...others: string[]) => [first, ...others].map(day);
    const pieces = cutSpan(span('2025-01-01', '2025-01-05', '2025-01-05T12:00:00Z'), 3);
    expect(pieces.map(({ first, span }) => [first, span.days, span.reachesNow])).toEqual([
      [0, days('2025-01-01', '2025-01-02', '2025-01-03'), false],
      [2, days('2025-01-03', '2025-01-04', '2025-01-05'), false],
      [4, days('2025-01-05', '2025-01-06'), true],
    ]);
    expect(cutSpan(span('2025-01-01', '2025-01-03', '2024-12-31T23:59:59Z'), 3)).toEqual([]);
  });
});

test.each([
  [10n ** 9n, 1n, '1'],
  [-21_666_666_667n, 1n, '-21.666667'],
  [499n, 1n, '0'],
  [500n, 1n, '0.000001'],
  [-500n, 1n, '-0.000001'],
  [100n * 10n ** 9n, 3n, '33.333333'],
  [-200n * 10n ** 9n, 3n, '-66.666667'],
  [1n, 0n, '0'],
  [123_456_789_012_345_678_901_000_000n, 1n, '123456789012345678.901'],
])('%s of 10^-9 USD over %s is %s', (nanos, per, expected) => {
  const micros = toMicros(nanos, per);
  expect(formatMicros(micros)).toBe(expected);
  expect(microsToUsd(micros)).toBe(Number(expected));
});

test('an amount becomes the number nearest to it, however large it is', () => {
  for (let size = 1n; size < 10n ** 20n; size = size * 7n + 3n) {
    for (const micros of [size, -size]) expect(microsToUsd(micros)).toBe(Number(formatMicros(micros)));
  }
});
