// Formats days and buckets for reading. A bucket's datetime is already in its zone, so only the date part is used.
import { addDays, clipToToday, countDays, type DayRange } from '../view/days.ts';
import type { PeriodUnit } from '../view/view.ts';

function format(options: Intl.DateTimeFormatOptions): (day: string) => string {
  const form = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...options });
  return (day) => form.format(Date.parse(`${day}T00:00:00Z`));
}

const weekday = format({ weekday: 'short' });
const month = format({ month: 'short' });
const year = (day: string) => day.slice(0, 4);
const dayMonth = (day: string) => `${Number(day.slice(8))} ${month(day)}`;
const dayMonthYear = (day: string) => `${dayMonth(day)} ${year(day)}`;
const quarter = (day: string) => `Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`;

/** Returns the day on which a bucket starts: `2026-08-05` for `2026-08-05T00:00:00.000000+0300`. */
export function dayOf(x: string): string {
  return x.slice(0, 10);
}

export function formatRange({ first, last }: DayRange): string {
  if (first === last) return dayMonthYear(first);
  return year(first) === year(last)
    ? `${dayMonth(first)} – ${dayMonthYear(last)}`
    : `${dayMonthYear(first)} – ${dayMonthYear(last)}`;
}

/** Formats a bucket in full: `Wed 5 Aug 2026`, `Week of 3 Aug 2026`, `Aug 2026`, `Q3 2026`, `2026`. */
export function periodTitle(day: string, unit: PeriodUnit): string {
  switch (unit) {
    case 'day':
      return `${weekday(day)} ${dayMonthYear(day)}`;
    case 'week':
      return `Week of ${dayMonthYear(day)}`;
    case 'month':
      return `${month(day)} ${year(day)}`;
    case 'quarter':
      return `${quarter(day)} ${year(day)}`;
    case 'year':
      return year(day);
  }
}

/** Formats a bucket for an axis, which shows the year only once. */
export function periodTick(day: string, unit: PeriodUnit): string {
  if (unit === 'day' || unit === 'week') return dayMonth(day);
  if (unit === 'month') return month(day);
  return unit === 'quarter' ? quarter(day) : year(day);
}

/**
 * Returns the days of bucket `i`, up to the day before the next one; for the last, up to the end of the range or today.
 */
export function bucketDays(starts: readonly string[], i: number, { range, today }: BucketEnd): DayRange {
  const next = starts[i + 1];
  return { first: starts[i] as string, last: next === undefined ? clipToToday(range, today).last : addDays(next, -1) };
}

/** Whether a bucket has all the days of its unit. The first and the last may be cut off. */
export function isWhole({ first, last }: DayRange, unit: PeriodUnit): boolean {
  if (unit === 'day') return true;
  if (unit === 'week') return countDays({ first, last }) === 7;
  const starts = { month: /-01$/, quarter: /-(01|04|07|10)-01$/, year: /-01-01$/ }[unit];
  return starts.test(first) && starts.test(addDays(last, 1));
}

/** Returns the note beside the name of a bucket: its days if it is cut off, and `so far` if it ends today. */
export function bucketNote(days: DayRange, unit: PeriodUnit, today: string): string {
  const notes = [isWhole(days, unit) ? '' : formatRange(days), days.last === today ? 'so far' : ''];
  return notes.filter((note) => note !== '').join(', ');
}

export interface BucketEnd {
  range: DayRange;
  today: string;
}
