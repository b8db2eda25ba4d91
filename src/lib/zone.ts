// The single source of time zones: Node's Intl, read once per zone into a table of offset changes.
// Days in SQL (local_day) and bucket edges both come from this table, so they cannot disagree.
// Instants are whole seconds since 1970-01-01T00:00:00Z; days are whole days since 1970-01-01. Pure.
import { LRUCache } from 'lru-cache';

const DAY_S = 86_400;
const FIRST_S = 0;
const LAST_S = Date.UTC(2101, 0, 1) / 1000;
/**
 * Steps of 3 days find every change in all 418 zones of tzdata 2025c, just as steps of one day do; steps of 7 days miss
 * changes in five zones.
 */
const STEP_S = 3 * DAY_S;

/** `offsets[i]` applies before `changesAt[i]`, the last offset from the last change on. */
interface Clock {
  changesAt: readonly number[];
  offsets: readonly number[];
}

export interface Zone {
  /** The name that Intl gives: the same for all aliases. */
  name: string;
  /** What clocks on the wall show. */
  wall: Clock;
  /** The same, but a clock set back across midnight changes only when that midnight comes again: days never go back. */
  days: Clock;
}

const zones = new Map<string, Zone>();
/** Keyed by names as given, in any case: Intl takes a tenth of a millisecond to find the canonical name. */
const zonesByName = new LRUCache<string, Zone>({ max: 1_000 });

function knownZone(name: string): Zone | undefined {
  const known = zonesByName.get(name);
  if (known) return known;
  const canonical = canonicalName(name);
  if (canonical === undefined) return undefined;
  let zone = zones.get(canonical);
  if (!zone) {
    const wall = readClock(canonical);
    zone = { name: canonical, wall, days: dayClockOf(wall) };
    zones.set(canonical, zone);
  }
  zonesByName.set(name, zone);
  return zone;
}

/** Zones that ICU has, and so Intl, but IANA does not. Most are not the zone one would expect: BST is that of Dhaka. */
const ICU_ONLY =
  /^(ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST|SystemV\/.*|US\/Pacific-New)$/i;

/** Returns the zone with an IANA name (canonical or alias, in any case), undefined if there is none. */
export function findZone(name: string): Zone | undefined {
  return ICU_ONLY.test(name) ? undefined : knownZone(name);
}

/**
 * Returns the reporting zone of an app. Its name was validated when it was chosen, but in the past less strictly, and
 * perhaps by a Node.js that knew more zones.
 */
export function zoneOfApp(timezone: string): Zone {
  const zone = knownZone(timezone);
  if (!zone) throw new Error(`This Node.js does not know the app's time zone, ${timezone}.`);
  return zone;
}

/** Returns the arrays that local_day() takes in SQL. Before 1970 and after 2100, the nearest offset applies. */
export function zoneChanges(zone: Zone): { changesAt: string[]; offsetsSeconds: number[] } {
  const changesAt = zone.days.changesAt.map((at) => new Date(at * 1000).toISOString());
  return { changesAt, offsetsSeconds: [...zone.days.offsets] };
}

/** Returns the local day of an instant. */
export function localDay(zone: Zone, at: number): number {
  return Math.floor((at + offsetAt(zone.days, at)) / DAY_S);
}

/** Returns the first instant of a local day; for a day that the zone skipped, that of the next one. */
export function dayStart(zone: Zone, day: number): number {
  const { changesAt, offsets } = zone.days;
  const midnight = day * DAY_S;
  for (let i = countUpTo(changesAt, midnight - 2 * DAY_S); ; i++) {
    const start = Math.max(midnight - offsets[i]!, changesAt[i - 1] ?? Number.NEGATIVE_INFINITY);
    if (start < (changesAt[i] ?? Number.POSITIVE_INFINITY)) return start;
  }
}

/** Formats an instant in the zone's wall-clock time: `2026-08-05T00:00:00.000000+0300`. */
export function formatInZone(zone: Zone, at: number): string {
  const offset = offsetAt(zone.wall, at);
  const wall = new Date((at + offset) * 1000).toISOString().slice(0, 19);
  const minutes = Math.floor(Math.abs(offset) / 60);
  const digits = String(Math.floor(minutes / 60) * 100 + (minutes % 60)).padStart(4, '0');
  return `${wall}.000000${offset < 0 ? '-' : '+'}${digits}`;
}

function offsetAt(clock: Clock, at: number): number {
  return clock.offsets[countUpTo(clock.changesAt, at)]!;
}

/** Counts the ascending values that are at most `limit`. */
function countUpTo(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function canonicalName(name: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,60}$/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

function readClock(name: string): Clock {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  const offset = (at: number) => parseOffset(format.format(at * 1000));
  const changesAt: number[] = [];
  const offsets = [offset(FIRST_S)];
  for (let from = FIRST_S; from < LAST_S; ) {
    const to = Math.min(from + STEP_S, LAST_S);
    const before = offsets.at(-1)!;
    if (offset(to) === before) {
      from = to;
      continue;
    }
    let low = from;
    let high = to;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    changesAt.push(high);
    offsets.push(offset(high));
    from = high;
  }
  return { changesAt, offsets };
}

/** Returns the offset in `12/31/1969, GMT-00:44:30`, in seconds. */
function parseOffset(text: string): number {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (!match) throw new Error(`Intl gave an offset of an unknown form: ${text}`);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/** Postpones each change that sets the clock back across midnight until that midnight comes again. */
function dayClockOf(wall: Clock): Clock {
  const changesAt = wall.changesAt.map((at, i) => {
    const dayBefore = Math.ceil((at + wall.offsets[i]!) / DAY_S) - 1;
    const offset = wall.offsets[i + 1]!;
    return Math.floor((at + offset) / DAY_S) < dayBefore ? dayBefore * DAY_S - offset : at;
  });
  return { changesAt, offsets: wall.offsets };
}
