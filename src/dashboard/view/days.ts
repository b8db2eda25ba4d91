// Days as `YYYY-MM-DD`, and ranges of days with both ends inclusive. Pure: today is an argument.

export interface DayRange {
  first: string;
  last: string;
}

const DAY_MS = 86_400_000;

export const PRESETS = [
  'last_7_days',
  'last_28_days',
  'last_90_days',
  'this_month',
  'last_month',
  'this_quarter',
  'last_quarter',
  'last_12_months',
  'this_year',
] as const;

export type Preset = (typeof PRESETS)[number];

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text;
}

export function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the number of days in a range. */
export function countDays({ first, last }: DayRange): number {
  return (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
}

/** Returns the first day of the month that lies `shift` months from a day's own. */
function monthStart(day: string, shift: number): string {
  const [year, month] = day.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, month - 1 + shift, 1)).toISOString().slice(0, 10);
}

function quarterStart(day: string): string {
  return monthStart(day, -((Number(day.slice(5, 7)) - 1) % 3));
}

/** Returns the same date `count` months earlier, or the last day of that month if it is too short. */
function monthsBefore(day: string, count: number): string {
  const same = `${monthStart(day, -count).slice(0, 8)}${day.slice(8)}`;
  const last = addDays(monthStart(day, 1 - count), -1);
  return same < last ? same : last;
}

export function presetRange(preset: Preset, today: string): DayRange {
  switch (preset) {
    case 'last_7_days':
      return { first: addDays(today, -6), last: today };
    case 'last_28_days':
      return { first: addDays(today, -27), last: today };
    case 'last_90_days':
      return { first: addDays(today, -89), last: today };
    case 'this_month':
      return { first: monthStart(today, 0), last: today };
    case 'last_month':
      return { first: monthStart(today, -1), last: addDays(monthStart(today, 0), -1) };
    case 'this_quarter':
      return { first: quarterStart(today), last: today };
    case 'last_quarter':
      return { first: monthStart(quarterStart(today), -3), last: addDays(quarterStart(today), -1) };
    case 'last_12_months':
      return { first: monthStart(today, -11), last: today };
    case 'this_year':
      return { first: `${today.slice(0, 4)}-01-01`, last: today };
  }
}

/** How many months back the previous period of a preset lies; presets not listed here are compared in days. */
const MONTHS: Partial<Record<Preset, number>> = {
  this_month: 1,
  last_month: 1,
  this_quarter: 3,
  last_quarter: 3,
  last_12_months: 12,
  this_year: 12,
};

/** Returns a preset's previous period: for months, the same part of the months before, whatever their length. */
export function presetBefore(preset: Preset, today: string): DayRange {
  const months = MONTHS[preset];
  return months === undefined
    ? daysBefore(presetRange(preset, today))
    : presetRange(preset, monthsBefore(today, months));
}

/** Returns the same number of days directly before a range. */
function daysBefore(range: DayRange): DayRange {
  const last = addDays(range.first, -1);
  return { first: addDays(last, 1 - countDays(range)), last };
}

/** Returns how many calendar months a range consists of; undefined if it begins or ends within a month. */
function wholeMonths({ first, last }: DayRange): number | undefined {
  const next = addDays(last, 1);
  if (!first.endsWith('-01') || !next.endsWith('-01')) return undefined;
  const monthNo = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  return monthNo(next) - monthNo(first);
}

/** Returns the part of a range that has begun. */
export function clipToToday({ first, last }: DayRange, today: string): DayRange {
  return { first, last: last < today ? last : today };
}

/**
 * Returns the period directly before a range of dates: as many months for whole months, otherwise as many days. For a
 * range that has begun and is not over, only as much of that period as has begun of the range.
 */
export function rangeBefore(range: DayRange, today: string): DayRange {
  const months = wholeMonths(range);
  const { first } = months === undefined ? daysBefore(range) : { first: monthStart(range.first, -months) };
  if (today < range.first || range.last <= today) return { first, last: addDays(range.first, -1) };
  return { first, last: months === undefined ? addDays(today, -countDays(range)) : monthsBefore(today, months) };
}

/** Returns the same dates a year earlier; for whole months, the same months. */
export function rangeYearBefore(range: DayRange): DayRange {
  const first = monthsBefore(range.first, 12);
  if (wholeMonths(range) === undefined) return { first, last: monthsBefore(range.last, 12) };
  return { first, last: addDays(monthStart(range.last, -11), -1) };
}
