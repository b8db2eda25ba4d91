// How figures, changes and periods are worded.
import { describe, expect, test } from 'vitest';
import { formatMoment } from '../../src/dashboard/words/moment.ts';
import { bucketDays, bucketNote, formatRange, isWhole, periodTitle } from '../../src/dashboard/words/periods.ts';
import { listTerms } from '../../src/dashboard/words/terms.ts';
import { describeChange, formatMarks, formatValue } from '../../src/dashboard/words/values.ts';

test.each([
  [1234.5, 'USD', '$1,234.50'],
  [-0.004, 'USD', '$0.00'],
  [-12, 'USD', '-$12.00'],
  [1234567, 'count', '1,234,567'],
] as const)('%d %s is written %s', (value, unit, words) => {
  expect(formatValue(value, unit)).toBe(words);
});

test('figures on axes are short', () => {
  expect(formatMarks([0, 12_500], 'USD')).toEqual(['$0', '$12.5K']);
  expect(formatMarks([2_000_000], 'count')).toEqual(['2M']);
});

test('all marks of an axis have cents, or none', () => {
  expect(formatMarks([0, 0.05, 0.1], 'USD')).toEqual(['$0.00', '$0.05', '$0.10']);
  expect(formatMarks([0, 1, 2], 'USD')).toEqual(['$0', '$1', '$2']);
});

test.each([
  [120, 100, { text: '20%', direction: 'up' }],
  [50, 100, { text: '50%', direction: 'down' }],
  [100_010, 100_000, { text: '<0.1%', direction: 'up' }],
  [99_951, 100_000, { text: '<0.1%', direction: 'down' }],
  [99_950, 100_000, { text: '0.1%', direction: 'down' }],
  [0, 0, { text: '0%', direction: 'same' }],
  [5, 0, { text: 'new', direction: 'new' }],
  [-5, 0, { text: '', direction: 'down' }],
  [-150, -100, { text: '', direction: 'down' }],
  [69.98, -38.02, { text: '', direction: 'up' }],
] as const)('the change to %d from %d is %o', (value, before, change) => {
  expect(describeChange(value, before)).toEqual(change);
});

describe('periods', () => {
  test.each([
    ['day', 'Wed 5 Aug 2026'],
    ['week', 'Week of 5 Aug 2026'],
    ['month', 'Aug 2026'],
    ['quarter', 'Q3 2026'],
    ['year', '2026'],
  ] as const)('a %s is called %s', (unit, title) => {
    expect(periodTitle('2026-08-05', unit)).toBe(title);
  });

  test('a range shows its year once', () => {
    expect(formatRange({ first: '2026-08-01', last: '2026-09-02' })).toBe('1 Aug – 2 Sep 2026');
    expect(formatRange({ first: '2025-12-31', last: '2026-01-01' })).toBe('31 Dec 2025 – 1 Jan 2026');
    expect(formatRange({ first: '2026-01-01', last: '2026-01-01' })).toBe('1 Jan 2026');
  });

  test('the last bucket ends with the range, or with today', () => {
    const starts = ['2026-07-15', '2026-08-01'];
    const range = { first: '2026-07-15', last: '2026-08-31' };
    expect(bucketDays(starts, 0, { range, today: '2026-08-20' })).toEqual({ first: '2026-07-15', last: '2026-07-31' });
    expect(bucketDays(starts, 1, { range, today: '2026-08-20' })).toEqual({ first: '2026-08-01', last: '2026-08-20' });
    expect(bucketDays(starts, 1, { range, today: '2026-09-20' })).toEqual({ first: '2026-08-01', last: '2026-08-31' });
  });

  test.each([
    ['day', '2026-08-05', '2026-08-05', ''],
    ['day', '2026-08-06', '2026-08-06', 'so far'],
    ['week', '2026-07-27', '2026-08-02', ''],
    ['week', '2026-07-29', '2026-08-02', '29 Jul – 2 Aug 2026'],
    ['month', '2026-08-01', '2026-08-06', '1 Aug – 6 Aug 2026, so far'],
  ] as const)('the note of a %s from %s to %s on 6 August is: %s', (unit, first, last, note) => {
    expect(bucketNote({ first, last }, unit, '2026-08-06')).toBe(note);
  });

  test.each([
    ['week', '2026-08-03', '2026-08-09', true],
    ['week', '2026-08-03', '2026-08-05', false],
    ['month', '2026-02-01', '2026-02-28', true],
    ['month', '2026-02-02', '2026-02-28', false],
    ['quarter', '2026-04-01', '2026-06-30', true],
    ['quarter', '2026-04-01', '2026-05-31', false],
    ['year', '2026-01-01', '2026-12-31', true],
    ['year', '2026-01-01', '2026-11-30', false],
  ] as const)('a %s from %s to %s is whole: %s', (unit, first, last, whole) => {
    expect(isWhole({ first, last }, unit)).toBe(whole);
  });
});

test.each([
  ['USD', 'proceeds', 'Asia/Tokyo', 'profile_install_date', ['proceeds', 'Asia/Tokyo', 'by install date']],
  ['USD', 'net_revenue', 'America/New_York', 'purchase_date', ['net revenue', 'America/New York']],
  ['count', 'proceeds', null, 'purchase_date', []],
  ['USD', 'revenue', null, 'purchase_date', []],
] as const)(
  'of %s, %s, %s and %s, only what differs from the defaults is listed',
  (unit, money, zone, date_type, terms) => {
    expect(listTerms({ money, zone, date_type }, unit)).toEqual(terms);
  },
);

test('a wire datetime, with its microseconds and offset, is a moment', () => {
  expect(formatMoment('2026-08-05T10:00:00.123456+0300')).toBe(formatMoment('2026-08-05T07:00:00.123000+0000'));
  expect(formatMoment('2026-08-05T07:00:00.000000+0000')).toContain('2026');
});
