// Local days of every kind: installs around the edges, asked for in a zone other than the app's (which compares
// instants) and in the app's own zone (which compares stored days). Both must agree with the figures here.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { refreshInstallMonth } from './background.ts';
import { addApp, askChart, type Home, importProfiles, importTransactions } from './import.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ now: () => new Date('2026-06-01T00:00:00Z') });
});
afterAll(() => service.close());

async function homesWith(installs: readonly string[], zone: string): Promise<Home[]> {
  const homes = [await addApp(service, { name: 'UTC' }), await addApp(service, { name: zone, timezone: zone })];
  const profiles = installs.map((installed_at, i) => ({ customer_user_id: `p${i}`, installed_at }));
  for (const home of homes) await importProfiles(home, profiles);
  return homes;
}

interface Case {
  name: string;
  zone: string;
  date: string[];
  unit: string;
  installs: string[];
  /** Maps the start of each bucket to the installs in it. */
  expected: Record<string, number>;
}

const CASES: Case[] = [
  {
    name: 'New York puts its clocks forward: a day of 23 hours',
    zone: 'America/New_York',
    date: ['2025-03-08', '2025-03-10'],
    unit: 'day',
    installs: ['2025-03-09T04:59:59Z', '2025-03-09T05:00:00Z', '2025-03-10T03:59:59Z', '2025-03-10T04:00:00Z'],
    expected: {
      '2025-03-08T00:00:00.000000-0500': 1,
      '2025-03-09T00:00:00.000000-0500': 2,
      '2025-03-10T00:00:00.000000-0400': 1,
    },
  },
  {
    name: 'New York puts its clocks back: a day of 25 hours',
    zone: 'America/New_York',
    date: ['2025-11-01', '2025-11-03'],
    unit: 'day',
    installs: ['2025-11-02T03:59:59.999999Z', '2025-11-02T04:00:00Z', '2025-11-03T04:59:59Z', '2025-11-03T05:00:00Z'],
    expected: {
      '2025-11-01T00:00:00.000000-0400': 1,
      '2025-11-02T00:00:00.000000-0400': 2,
      '2025-11-03T00:00:00.000000-0500': 1,
    },
  },
  {
    name: 'months of New York across both changes',
    zone: 'America/New_York',
    date: ['2025-03-01', '2025-12-31'],
    unit: 'quarter',
    installs: ['2025-03-01T04:59:59Z', '2025-04-01T03:59:59Z', '2025-04-01T04:00:00Z', '2026-01-01T04:59:59Z'],
    expected: {
      '2025-03-01T00:00:00.000000-0500': 1,
      '2025-04-01T00:00:00.000000-0400': 1,
      '2025-07-01T00:00:00.000000-0400': 0,
      '2025-10-01T00:00:00.000000-0400': 1,
    },
  },
  {
    name: 'Kathmandu is 5:45 ahead',
    zone: 'Asia/Kathmandu',
    date: ['2025-05-01', '2025-05-02'],
    unit: 'day',
    installs: ['2025-04-30T18:14:59Z', '2025-04-30T18:15:00Z', '2025-05-01T18:15:00Z', '2025-05-02T18:15:00Z'],
    expected: { '2025-05-01T00:00:00.000000+0545': 1, '2025-05-02T00:00:00.000000+0545': 1 },
  },
  {
    name: 'Lord Howe changes by half an hour',
    zone: 'Australia/Lord_Howe',
    date: ['2025-10-04', '2025-10-06'],
    unit: 'day',
    installs: ['2025-10-04T13:29:59Z', '2025-10-04T13:30:00Z', '2025-10-05T12:59:59Z', '2025-10-05T13:00:00Z'],
    expected: {
      '2025-10-04T00:00:00.000000+1030': 1,
      '2025-10-05T00:00:00.000000+1030': 2,
      '2025-10-06T00:00:00.000000+1100': 1,
    },
  },
  {
    name: 'Santiago has a midnight that does not exist',
    zone: 'America/Santiago',
    date: ['2025-09-06', '2025-09-08'],
    unit: 'day',
    installs: ['2025-09-07T03:59:59Z', '2025-09-07T04:00:00Z', '2025-09-08T02:59:59Z', '2025-09-08T03:00:00Z'],
    expected: {
      '2025-09-06T00:00:00.000000-0400': 1,
      '2025-09-07T01:00:00.000000-0300': 2,
      '2025-09-08T00:00:00.000000-0300': 1,
    },
  },
  {
    name: 'Santiago puts its clocks back from midnight: the old day is longer',
    zone: 'America/Santiago',
    date: ['2025-04-05', '2025-04-06'],
    unit: 'day',
    installs: ['2025-04-05T03:00:00Z', '2025-04-06T03:30:00Z', '2025-04-06T03:59:59Z', '2025-04-06T04:00:00Z'],
    expected: { '2025-04-05T00:00:00.000000-0300': 3, '2025-04-06T00:00:00.000000-0400': 1 },
  },
  {
    name: 'Havana has a midnight that comes twice: the day starts at the first',
    zone: 'America/Havana',
    date: ['2024-11-02', '2024-11-03'],
    unit: 'day',
    installs: ['2024-11-03T03:59:59Z', '2024-11-03T04:00:00Z', '2024-11-03T04:59:59Z', '2024-11-03T05:00:00Z'],
    expected: { '2024-11-02T00:00:00.000000-0400': 1, '2024-11-03T00:00:00.000000-0400': 3 },
  },
  {
    name: "St. John's went back from 00:01 to 23:01: the repeated part of the old day belongs to the new one",
    zone: 'America/St_Johns',
    date: ['2010-11-06', '2010-11-07'],
    unit: 'day',
    installs: ['2010-11-07T02:29:59Z', '2010-11-07T02:30:00Z', '2010-11-07T02:45:00Z', '2010-11-07T03:30:00Z'],
    expected: { '2010-11-06T00:00:00.000000-0230': 1, '2010-11-07T00:00:00.000000-0230': 3 },
  },
  {
    name: 'Apia skipped a day: it has no bucket',
    zone: 'Pacific/Apia',
    date: ['2011-12-29', '2011-12-31'],
    unit: 'day',
    installs: ['2011-12-29T10:00:00Z', '2011-12-30T09:59:59Z', '2011-12-30T10:00:00Z', '2011-12-31T09:59:59Z'],
    expected: { '2011-12-29T00:00:00.000000-1000': 2, '2011-12-31T00:00:00.000000+1400': 2 },
  },
  {
    name: "weeks over a year's end start on Monday; the first and last are clipped",
    zone: 'Europe/Berlin',
    date: ['2024-12-26', '2025-01-14'],
    unit: 'week',
    installs: ['2024-12-25T23:00:00Z', '2024-12-29T22:59:59Z', '2024-12-29T23:00:00Z', '2025-01-14T22:59:59Z'],
    expected: {
      '2024-12-26T00:00:00.000000+0100': 2,
      '2024-12-30T00:00:00.000000+0100': 1,
      '2025-01-06T00:00:00.000000+0100': 0,
      '2025-01-13T00:00:00.000000+0100': 1,
    },
  },
];

test.each(CASES)('$name', async ({ zone, date, unit, installs, expected }) => {
  const body = { chart_id: 'installs', period_unit: unit, filters: { date } };
  const [utc, own] = await homesWith(installs, zone);
  for (const response of [await askChart(utc!, body, { 'service-tz': zone }), await askChart(own!, body)]) {
    const [series] = response.json.data.common.data;
    const found = series.values.map(({ x, y }: { x: string; y: number }) => [x, y]);
    expect(found).toEqual(Object.entries(expected));
  }
});

describe('the zone that applies', () => {
  const body = { chart_id: 'installs', period_unit: 'day', filters: { date: ['2025-05-01'] } };
  const startOf = async (home: Home, headers: Record<string, string>) =>
    (await askChart(home, body, headers)).json.data.common.data[0].values[0].x;

  test('is that of the header, else that of the app, else UTC', async () => {
    const [utc, own] = await homesWith([], 'Asia/Tokyo');
    expect(await startOf(own!, { 'service-tz': 'Asia/Kathmandu' })).toBe('2025-05-01T00:00:00.000000+0545');
    expect(await startOf(own!, {})).toBe('2025-05-01T00:00:00.000000+0900');
    expect(await startOf(own!, { 'service-tz': '  ' })).toBe('2025-05-01T00:00:00.000000+0900');
    expect(await startOf(utc!, {})).toBe('2025-05-01T00:00:00.000000+0000');
  });
});

test('a stock counts what is open at the end of the local day', async () => {
  const zone = 'America/Santiago';
  const [utc, own] = await homesWith([], zone);
  expect(utc!.app.timezone).toBe('UTC');
  const body = {
    chart_id: 'subscriptions_active',
    period_unit: 'day',
    filters: { date: ['2025-09-06', '2025-09-07'] },
  };
  for (const home of [utc!, own!]) {
    await importProfiles(home, [{ customer_user_id: 'ann', installed_at: '2025-01-01T00:00:00Z' }]);
    const chain = (id: string, purchased_at: string, expires_at: string) => ({
      customer_user_id: 'ann',
      purchase_type: 'subscription',
      store: 'stripe',
      store_product_id: 'p',
      store_transaction_id: id,
      store_original_transaction_id: id,
      price: { country: 'CL', currency: 'USD', value: 1 },
      purchased_at,
      originally_purchased_at: purchased_at,
      expires_at,
      renew_status: true,
    });
    await importTransactions(home, [
      // "a" is still open at the end of the 6th, which is 04:00Z; "b" opens at that very moment, so on the 7th.
      chain('a', '2025-09-01T00:00:00Z', '2025-09-07T04:00:00Z'),
      chain('b', '2025-09-07T04:00:00Z', '2025-10-01T00:00:00Z'),
      chain('c', '2025-09-07T03:59:59Z', '2025-09-08T02:59:59Z'),
    ]);
    const response = await askChart(home, body, { 'service-tz': zone });
    expect(response.json.data.common.data[0].values.map(({ y }: { y: number }) => y)).toEqual([2, 1]);
  }
});

test('facts of any year are counted in any zone', async () => {
  const days = ['0001-01-02', '1899-12-31', '1900-06-01'];
  for (const home of await homesWith(
    days.map((day) => `${day}T12:00:00Z`),
    'Africa/Abidjan',
  )) {
    for (const zone of ['UTC', 'Africa/Abidjan']) {
      for (const day of days) {
        const body = { chart_id: 'installs', period_unit: 'day', filters: { date: [day] } };
        expect((await askChart(home, body, { 'service-tz': zone })).json.data.common.value, `${day} ${zone}`).toBe(1);
      }
    }
  }
});

test('a day whose edges are not whole quarters of an hour from UTC is counted although its month has columns', async () => {
  const home = await addApp(service, { name: 'Columns of 1960' });
  await importProfiles(home, [{ customer_user_id: 'ann', installed_at: '1960-06-01T12:00:00Z' }]);
  await refreshInstallMonth(service.deps.db);
  const body = { chart_id: 'installs', period_unit: 'day', filters: { date: ['1960-06-01'] } };
  const { json } = await askChart(home, body, { 'service-tz': 'Africa/Monrovia' });
  expect(json.data.common.value).toBe(1);
});

/** Imports subscriptions of one person, and counts those that are active on a day, wherever the figure is read from. */
async function countActive(name: string, subscriptions: Record<string, unknown>[], day: string): Promise<number[]> {
  const home = await addApp(service, { name });
  await importProfiles(home, [{ customer_user_id: 'ann', installed_at: '2025-01-01T00:00:00Z' }]);
  await importTransactions(
    home,
    subscriptions.map((members, i) => ({
      customer_user_id: 'ann',
      purchase_type: 'subscription',
      store: 'stripe',
      store_product_id: 'p',
      store_transaction_id: `s${i}`,
      store_original_transaction_id: `s${i}`,
      price: { country: 'CL', currency: 'USD', value: 1 },
      originally_purchased_at: members.purchased_at,
      expires_at: '2026-07-01T00:00:00Z',
      renew_status: true,
      ...members,
    })),
  );
  const countIn = async (filters: object, headers: Record<string, string>) => {
    const body = { chart_id: 'subscriptions_active', period_unit: 'day', filters: { date: [day], ...filters } };
    return (await askChart(home, body, headers)).json.data.common.data[0].values[0].y;
  };
  const places = [{}, { store: ['stripe'], country: ['CL'] }];
  return Promise.all(
    places.flatMap((filters) => [countIn(filters, {}), countIn(filters, { 'service-tz': 'Asia/Tokyo' })]),
  );
}

test('a stock counts what opened before now, the last microsecond of the millisecond, wherever it is read from', async () => {
  const openings = ['2026-06-01T00:00:00.000998Z', '2026-06-01T00:00:00.000999Z'];
  const subscriptions = openings.map((purchased_at) => ({ purchased_at }));
  expect(await countActive('Openings', subscriptions, '2026-06-01')).toEqual([1, 1, 1, 1]);
});

test('a stock counts what is refunded after now, the last microsecond of the millisecond, wherever it is read from', async () => {
  const subscriptions = ['2026-06-01T00:00:00.000999Z', '2026-06-01T00:00:00.001Z'].map((refunded_at) => {
    return { purchased_at: '2026-05-01T00:00:00Z', refunded_at, cancellation_reason: 'refund', renew_status: false };
  });
  expect(await countActive('Refunds', subscriptions, '2026-05-15')).toEqual([1, 1, 1, 1]);
});
