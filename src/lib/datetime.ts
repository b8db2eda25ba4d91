// Datetimes are text with microseconds, end to end: JS Dates would drop the last three digits. A "timestamp" here is
// `2025-01-15T10:30:00.123456Z`, always in UTC, so it can be compared as text and Postgres can read it. Pure.
import { memoize } from './memoize.ts';

export const DAY_MS = 86_400_000;

const FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d):?(\d\d))?$/;

export const DATETIME_MESSAGE =
  'Must be an ISO 8601 datetime with Z, +hh:mm, +hhmm or no offset (UTC), such as 2025-01-15T10:30:00Z.';

/** The form of nearly all datetimes. It has no capture groups, which would cost more than everything else done here. */
const COMMON_FORM = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/;
const ZEROS = ['.000000Z', '', '00000Z', '0000Z', '000Z', '00Z', '0Z', 'Z'];
const WHOLE_SECONDS = '2025-01-15T10:30:00'.length;

/** Upper bound of the cache. Validating a record, checking its rules and taking it each parse the same few texts. */
const MAX_CACHED = 64;

/** Returns the timestamp of a text in the common form; undefined if the form differs or the day does not exist. */
const parseCommon = memoize(MAX_CACHED, (text): string | undefined => {
  if (!COMMON_FORM.test(text)) return undefined;
  const year = Number(text.slice(0, 4));
  if (year === 0 || !isDayOfMonth(year, Number(text.slice(5, 7)), Number(text.slice(8, 10)))) return undefined;
  return `${text.slice(0, -1)}${ZEROS[text.length - 1 - WHOLE_SECONDS]}`;
});

/** Parses an ISO 8601 datetime (decisions.md 5) of the years 0001 to 9999; returns undefined if the text is not one. */
export function parseDatetime(text: string): string | undefined {
  return parseCommon(text) ?? parseAny(text);
}

function parseAny(text: string): string | undefined {
  const match = FORM.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', , sign, offsetHour = '0', offsetMinute = '0'] =
    match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const microseconds = `${fraction.slice(0, 6).padEnd(6, '0')}Z`;
  if (!isDayOfMonth(Number(year), Number(month), Number(day))) return undefined;
  if (sign === undefined && year !== '0000') {
    return `${year}-${month}-${day}T${hour}:${minute}:${second}.${microseconds}`;
  }
  const wall = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000 * (sign === '-' ? -1 : 1);
  const instant = new Date(wall - offsetMs);
  const instantYear = instant.getUTCFullYear();
  if (instantYear < 1 || instantYear > 9999) return undefined;
  return `${instant.toISOString().slice(0, 19)}.${microseconds}`;
}

const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Uses no Date: an import checks tens of datetimes per record, and creating Dates took a quarter of its time. */
function isDayOfMonth(year: number, month: number, day: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 && isLeap ? 29 : (LENGTHS[month - 1] ?? 0);
  return day >= 1 && day <= last;
}

/** Slices by position, as the form is always the same: a profile with its event has some thirty datetimes. */
function wallClock(value: string): string {
  const offset = value.indexOf('+', WHOLE_SECONDS);
  const fraction = value.slice(WHOLE_SECONDS + 1, offset);
  return `${value.slice(0, 10)}T${value.slice(11, WHOLE_SECONDS)}.${fraction.padEnd(6, '0')}`;
}

/** Returns the timestamp of a text that has passed its schema; null if it is absent, null or blank. */
export function parseOptional(text: string | null | undefined): string | null {
  return (text && parseDatetime(text)) || null;
}

/**
 * Converts a timestamptz to a timestamp. It takes the form of the driver (`2025-01-15 10:30:00.1+00`) and that of jsonb
 * (`2025-01-15T10:30:00.1+00:00`).
 */
export function fromDatabase(value: string): string {
  return `${wallClock(value)}Z`;
}

/** Converts a timestamp to the form that `fromDatabase` and `toWire` take. */
export function toDatabase(timestamp: string): string {
  return timestamp.replace('Z', '+00');
}

/** Returns the timestamp of a Date. */
export function timestampOf(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}

/** Returns the preceding timestamp. For the first of year 1 that is in year 0, which the database rejects. */
export function microsecondBefore(timestamp: string): string {
  const second = timestamp.slice(0, 19);
  const micros = Number(timestamp.slice(20, 26));
  if (micros > 0) return `${second}.${String(micros - 1).padStart(6, '0')}Z`;
  const before = new Date(Date.parse(`${second}Z`) - 1_000).toISOString();
  return `${before.slice(0, 19)}.999999Z`;
}

/** Converts a database value to the form on the wire: `2025-01-15T10:30:00.000000+0000` (interface 2.5). */
export function toWire(databaseValue: string): string;
export function toWire(databaseValue: string | null): string | null;
export function toWire(databaseValue: string | null): string | null {
  return databaseValue === null ? null : `${wallClock(databaseValue)}+0000`;
}

/** Converts a timestamp to the form on the wire. */
export function timestampToWire(timestamp: string | null): string | null {
  return timestamp === null ? null : toWire(toDatabase(timestamp));
}
