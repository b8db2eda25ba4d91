// Ranges of days, cut into buckets. Days are whole days since 1970-01-01, instants whole seconds (src/lib/zone.ts).
// Pure.
import { DAY_MS } from '../lib/datetime.ts';
import { dayStart, formatInZone, localDay, type Zone } from '../lib/zone.ts';

export const PERIOD_UNITS = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type PeriodUnit = (typeof PERIOD_UNITS)[number];

/** Both days inclusive. */
export interface DateRange {
  first: number;
  last: number;
}

/** A range cut into buckets: bucket i runs from edge i to edge i + 1. Without buckets there are no edges either. */
export interface Span {
  range: DateRange;
  /** The edges as days of the zone … */
  days: readonly number[];
  /** … and as instants. */
  instants: readonly number[];
  /** Whether the last bucket contains now. */
  reachesNow: boolean;
}

/** Returns the day of a date `YYYY-MM-DD`; undefined if there is no such date. */
export function parseDate(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || formatDate(ms / DAY_MS) !== text ? undefined : ms / DAY_MS;
}

export function formatDate(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the first day of the unit that contains `day`, or of the one `shift` units later. Weeks start on Monday. */
export function unitStart(day: number, unit: PeriodUnit, shift = 0): number {
  if (unit === 'day') return day + shift;
  if (unit === 'week') return day - ((((day + 3) % 7) + 7) % 7) + 7 * shift;
  const date = new Date(day * DAY_MS);
  const months = { month: 1, quarter: 3, year: 12 }[unit];
  const month = Math.floor(date.getUTCMonth() / months + shift) * months;
  return new Date(0).setUTCFullYear(date.getUTCFullYear(), month, 1) / DAY_MS;
}

/** Returns the day in the zone at `now`, an instant in ISO 8601. */
export function todayIn(zone: Zone, now: string): number {
  return localDay(zone, Math.floor(Date.parse(now) / 1000));
}

/** Returns the last day of a range of `years` years that starts on `first`. */
export function lastDayOfYears(first: number, years: number): number {
  const date = new Date(first * DAY_MS);
  return date.setUTCFullYear(date.getUTCFullYear() + years) / DAY_MS - 1;
}

/** Returns the days on which buckets start, and the day after the last bucket. */
export function listEdges({ first, last }: DateRange, unit: PeriodUnit): number[] {
  const edges = [first];
  for (let next = unitStart(first, unit, 1); next <= last; next = unitStart(next, unit, 1)) edges.push(next);
  return [...edges, last + 1];
}

/** Cuts a range into the buckets that have begun by `now`, in milliseconds. Days that the zone skipped get none. */
export function makeSpan(range: DateRange, { unit, zone, now }: { unit: PeriodUnit; zone: Zone; now: number }): Span {
  const edges = listEdges(range, unit).map((day) => ({ day, at: dayStart(zone, day) }));
  const distinct = edges.filter(({ at }, i) => at !== edges[i + 1]?.at);
  const begun = distinct.filter((_, i) => i === 0 || distinct[i - 1]!.at * 1000 <= now);
  const kept = begun.length > 1 ? begun : [];
  return {
    range,
    days: kept.map(({ day }) => day),
    instants: kept.map(({ at }) => at),
    reachesNow: kept.length > 0 && kept.at(-1)!.at * 1000 > now,
  };
}

/** Returns the `x` of every bucket: its start in the zone. */
export function listStarts(span: Span, zone: Zone): string[] {
  return span.instants.slice(0, -1).map((at) => formatInZone(zone, at));
}

export function countBuckets(span: Span): number {
  return Math.max(span.instants.length - 1, 0);
}

/** Cuts a span into at most `maxPieces` pieces, each with the index (from 0) of its first bucket. */
export function cutSpan(span: Span, maxPieces: number): { first: number; span: Span }[] {
  const buckets = countBuckets(span);
  const size = Math.ceil(buckets / maxPieces);
  const firsts = Array.from({ length: buckets }, (_, bucket) => bucket).filter((bucket) => bucket % size === 0);
  return firsts.map((first) => {
    const end = Math.min(first + size, buckets);
    const [days, instants] = [span.days.slice(first, end + 1), span.instants.slice(first, end + 1)];
    return { first, span: { ...span, days, instants, reachesNow: span.reachesNow && end === buckets } };
  });
}
