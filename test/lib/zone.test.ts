// A day starts at the first instant of the local day, whatever the clocks of the zone do.
import { describe, expect, test } from 'vitest';
import { readChartRequest } from '../../src/analytics/request.ts';
import { dayStart, findZone, formatInZone, localDay, zoneChanges, zoneOfApp } from '../../src/lib/zone.ts';

const zone = (name: string) => findZone(name)!;
const day = (date: string) => Date.parse(`${date}T00:00:00Z`) / 86_400_000;
const starts = (name: string, date: string) => formatInZone(zone(name), dayStart(zone(name), day(date)));

test.each([
  ['Europe/Berlin', '2026-08-05', '2026-08-05T00:00:00.000000+0200'],
  ['America/New_York', '2025-03-09', '2025-03-09T00:00:00.000000-0500'],
  ['America/New_York', '2025-03-10', '2025-03-10T00:00:00.000000-0400'],
  ['Asia/Kathmandu', '2025-01-01', '2025-01-01T00:00:00.000000+0545'],
  ['Australia/Lord_Howe', '2024-10-06', '2024-10-06T00:00:00.000000+1030'],
  ['Australia/Lord_Howe', '2024-10-07', '2024-10-07T00:00:00.000000+1100'],
  // Summer time lasted one week.
  ['America/Recife', '2000-10-12', '2000-10-12T00:00:00.000000-0200'],
  // The offset is 44 minutes and a half.
  ['Africa/Monrovia', '1971-06-01', '1971-06-01T00:00:00.000000-0044'],
  // Changes are known up to the end of 2100; from then on, the last offset applies.
  ['Europe/Berlin', '2100-08-05', '2100-08-05T00:00:00.000000+0200'],
  ['Europe/Berlin', '2101-08-05', '2101-08-05T00:00:00.000000+0100'],
])('%s: %s starts at %s', (name, date, expected) => {
  expect(starts(name, date)).toBe(expected);
});

test('if midnight does not exist, the day starts when the clocks have jumped', () => {
  expect(starts('America/Santiago', '2019-09-08')).toBe('2019-09-08T01:00:00.000000-0300');
});

test('if midnight comes twice, the day starts at the first', () => {
  expect(starts('America/Havana', '2024-11-03')).toBe('2024-11-03T00:00:00.000000-0400');
  expect(starts('America/St_Johns', '2005-10-30')).toBe('2005-10-30T00:00:00.000000-0230');
});

test('a clock set back from midnight to 23:00 prolongs the old day', () => {
  expect(starts('America/Santiago', '2024-04-07')).toBe('2024-04-07T00:00:00.000000-0400');
  expect(
    dayStart(zone('America/Santiago'), day('2024-04-07')) - dayStart(zone('America/Santiago'), day('2024-04-06')),
  ).toBe(25 * 3600);
});

test('a day that the zone skipped is empty', () => {
  expect(starts('Pacific/Apia', '2011-12-30')).toBe('2011-12-31T00:00:00.000000+1400');
  expect(starts('Pacific/Apia', '2011-12-31')).toBe('2011-12-31T00:00:00.000000+1400');
});

test('zones are known by canonical names and aliases, and by nothing else', () => {
  expect(zone('Asia/Kolkata').name).toBe(zone('Asia/Calcutta').name);
  expect(zone('Etc/UTC').name).toBe(zone('UTC').name);
  for (const name of ['EST', 'MST', 'HST', 'CET', 'WET', 'PST8PDT', 'GB', 'NZ', 'ROK', 'US/Pacific', 'gmt0']) {
    expect(findZone(name), name).toBeDefined();
  }
  for (const name of ['', ' ', 'Mars/Olympus', '+05:00', 'Europe/Berlin ', 'posixrules', 'Zürich']) {
    expect(findZone(name), name).toBeUndefined();
  }
  // Intl knows these, but as zones that hardly anybody means by them: Dhaka, Calcutta, Paris.
  for (const name of ['BST', 'bst', 'IST', 'ECT', 'PST', 'SystemV/PST8', 'US/Pacific-New']) {
    expect(findZone(name), name).toBeUndefined();
  }
});

test('an app whose zone was chosen when ICU’s own names were accepted keeps it', () => {
  expect(zoneOfApp('JST').name).toBe('Asia/Tokyo');
  expect(findZone('JST')).toBeUndefined();
});

test('an app whose zone this Node.js does not know has no days, rather than those of UTC', () => {
  expect(zoneOfApp('europe/berlin').name).toBe('Europe/Berlin');
  expect(() => zoneOfApp('Mars/Olympus')).toThrow("does not know the app's time zone, Mars/Olympus");
  const request = { body: { chart_id: 'revenue', filters: { date: ['2025-01-01'] } }, zoneHeader: undefined };
  expect(() => readChartRequest({ ...request, appZone: 'Mars/Olympus', now: new Date() })).toThrow('Mars/Olympus');
});

const ODD = [
  'America/St_Johns',
  'America/Havana',
  'America/Santiago',
  'Pacific/Apia',
  'Africa/Monrovia',
  'Asia/Gaza',
  'Antarctica/Troll',
];

describe.each([...ODD, 'Pacific/Kwajalein', 'Africa/Casablanca', 'America/Scoresbysund', 'Asia/Beirut'])(
  '%s',
  (name) => {
    test('days never go back, and the days of instants agree with the starts of days', () => {
      const here = zone(name);
      for (let at = 0, last = localDay(here, 0); at < Date.UTC(2030, 0, 1) / 1000; at += 3600) {
        const found = localDay(here, at);
        if (found < last) throw new Error(`${name}: the day goes back at ${at}`);
        if (found !== last) {
          const start = dayStart(here, found);
          const first = start > at - 3600 && start <= at && localDay(here, start - 1) === last;
          if (!first) throw new Error(`${name}: the day of ${at} does not start at ${start}`);
        }
        last = found;
      }
    });

    test('away from changes of clock, days and offsets are what Intl says', () => {
      const local = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' });
      const { changesAt } = zoneChanges(zone(name));
      const changes = changesAt.map((at) => Date.parse(at) / 1000);
      for (let at = 7_000_001; at < Date.UTC(2060, 0, 1) / 1000; at += 5_000_003) {
        if (changes.some((change) => Math.abs(change - at) < 90_000)) continue;
        expect(formatInZone(zone(name), at).slice(0, 19)).toBe(local.format(at * 1000).replace(' ', 'T'));
        expect(localDay(zone(name), at)).toBe(day(local.format(at * 1000).slice(0, 10)));
      }
    });
  },
);

test('the arrays for SQL have one more offset than changes, in ascending order', () => {
  const { changesAt, offsetsSeconds } = zoneChanges(zone('America/New_York'));
  expect(offsetsSeconds).toHaveLength(changesAt.length + 1);
  expect(changesAt.slice(0, 2)).toEqual(['1970-04-26T07:00:00.000Z', '1970-10-25T06:00:00.000Z']);
  expect(offsetsSeconds.slice(0, 3)).toEqual([-18_000, -14_400, -18_000]);
  expect([...changesAt].sort()).toEqual(changesAt);
  expect(zoneChanges(zone('UTC'))).toEqual({ changesAt: [], offsetsSeconds: [0] });
});
