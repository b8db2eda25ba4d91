// Properties that always hold (analytics.md 5), checked over generated histories.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHART_IDS, chart, filtersOf, segmentationsOf, unitOf } from '../../src/analytics/catalogue.ts';
import { startService, type TestService } from '../setup/service.ts';
import { history, NOW, PRODUCTS } from './histories.ts';
import { addApp, addProducts, askChart, type Home, importProfiles, importTransactions } from './import.ts';
import type { OracleSeries } from './oracle.ts';
import type { World } from './oracle-facts.ts';
import { ask } from './questions.ts';

const HISTORIES = Number(process.env.HISTORIES ?? 1);
const RANGE = ['2024-12-03', '2025-04-20'];
const ZONE = 'America/New_York';
const FLOWS = CHART_IDS.filter((id) => chart(id).kind === 'flow');
const SUMS = CHART_IDS.filter((id) => chart(id).kind !== 'ratio');
const COUNTS = CHART_IDS.filter((id) => unitOf(chart(id)) === 'count');

/** Rounding changes each figure that is shown by at most half a millionth. */
const HALF_MICRO = 0.5e-6;

let service: TestService;
beforeAll(async () => {
  service = await startService({ now: () => new Date(NOW) });
});
afterAll(() => service.close());

async function settle(world: World): Promise<Home> {
  const home = await addApp(service, { name: 'History', timezone: ZONE });
  await addProducts(home, PRODUCTS);
  await importProfiles(home, world.profiles);
  await importTransactions(home, world.transactions);
  return home;
}

/** Checks a property on every history; all properties of a run share the same histories. */
function always(name: string, property: (home: Home, world: World) => Promise<void>, histories = history): void {
  test(name, { timeout: 180_000 }, () =>
    fc.assert(
      fc.asyncProperty(histories, async (world) => property(await settle(world), world)),
      { numRuns: HISTORIES, endOnFailure: true },
    ),
  );
}

interface Asked {
  chart_id: string;
  period_unit?: string;
  segmentation?: string;
  date_type?: string;
  filters?: Record<string, string[]>;
}

function figures(
  home: Home,
  { chart_id, period_unit = 'month', date_type = 'purchase_date', filters, ...rest }: Asked,
) {
  return ask(home, { chart_id, period_unit, date_type, ...rest, filters: { date: RANGE, ...filters } }, ZONE);
}

const totalOf = async (home: Home, asked: Asked) => Object.values(await figures(home, asked)).map(([total]) => total!);
const points = ({ value, y }: OracleSeries) => [value, ...y];

always('arr is twelve times mrr at every point', async (home) => {
  const [mrr, arr] = [await totalOf(home, { chart_id: 'mrr' }), await totalOf(home, { chart_id: 'arr' })];
  for (const [key, total] of mrr.entries()) {
    const yearly = points(arr[key]!);
    for (const [i, one] of points(total).entries()) {
      expect(Math.abs(yearly[i]! - 12 * one)).toBeLessThanOrEqual(13 * HALF_MICRO + 1e-9);
    }
  }
});

const withoutRefunds = history.map((world): World => {
  const transactions = world.transactions.map(({ refunded_at: _, cancellation_reason, ...rest }) => ({
    ...rest,
    ...(cancellation_reason && cancellation_reason !== 'refund' && { cancellation_reason }),
  }));
  return { ...world, transactions };
});

always(
  'revenue is at least proceeds, and proceeds at least net revenue, when nothing is refunded',
  async (home) => {
    for (const chart_id of ['revenue', 'mrr', 'arr', 'arpu', 'arppu']) {
      const [revenue, proceeds, net] = (await totalOf(home, { chart_id, period_unit: 'week' })).map(points);
      for (const [i, one] of revenue!.entries()) {
        expect(one).toBeGreaterThanOrEqual(proceeds![i]!);
        expect(proceeds![i]!).toBeGreaterThanOrEqual(net![i]!);
      }
    }
  },
  withoutRefunds,
);

/** Returns three of the names, different ones for each chart, so that each gets its turn. */
function someOf<T>(names: readonly T[], place: number): T[] {
  const first = (3 * place) % names.length;
  return [...names.slice(first), ...names.slice(0, first)].slice(0, 3);
}

always('of flows and stocks, the segments add up to the total', async (home) => {
  for (const [place, chart_id] of SUMS.entries()) {
    for (const segmentation of someOf(segmentationsOf(chart(chart_id)), place)) {
      for (const [total, ...segments] of Object.values(await figures(home, { chart_id, segmentation }))) {
        for (const [i, one] of points(total!).entries()) {
          const sum = segments.reduce((known, series) => known + points(series)[i]!, 0);
          expect(Math.abs(sum - one), `${chart_id} ${segmentation}`).toBeLessThanOrEqual(
            (segments.length + 1) * HALF_MICRO + 1e-9,
          );
        }
      }
    }
  }
});

always('a flow sums to the same over days as over months', async (home) => {
  for (const chart_id of FLOWS) {
    const byDay = await totalOf(home, { chart_id, period_unit: 'day' });
    const byMonth = await totalOf(home, { chart_id, period_unit: 'month' });
    expect(byDay.map(({ value }) => value)).toEqual(byMonth.map(({ value }) => value));
  }
});

always("a segment's value as a filter gives that segment's series", async (home) => {
  for (const [place, chart_id] of CHART_IDS.entries()) {
    const { dimensions } = filtersOf(chart(chart_id));
    const both = segmentationsOf(chart(chart_id)).filter((name) => dimensions.includes(name));
    for (const segmentation of someOf(both, place)) {
      const split = await figures(home, { chart_id, segmentation });
      const types = Object.values(split)[0]!
        .slice(1, 3)
        .map(({ type }) => type);
      for (const type of types) {
        const filtered = await totalOf(home, { chart_id, filters: { [segmentation]: [type] } });
        for (const [key, series] of Object.values(split).entries()) {
          const own = series.find((one, i) => i > 0 && one.type === type)!;
          expect(points(filtered[key]!), `${chart_id} ${segmentation} ${type}`).toEqual(points(own));
        }
      }
    }
  }
});

always('counts are whole numbers and never negative', async (home) => {
  for (const chart_id of COUNTS) {
    const { common } = await figures(home, { chart_id, period_unit: 'week', segmentation: 'store' });
    for (const one of common!.flatMap(points)) expect(Number.isInteger(one) && one >= 0).toBe(true);
  }
});

always('the same files imported twice change nothing', async (home, world) => {
  const answers = () => Promise.all(CHART_IDS.map((chart_id) => figures(home, { chart_id })));
  const before = await answers();
  await importProfiles(home, world.profiles);
  expect(await importTransactions(home, world.transactions)).toMatchObject({
    written: 0,
    unchanged: world.transactions.length,
  });
  expect(await answers()).toEqual(before);
});

describe('the last daily point', () => {
  const lastDay = async (date: string[]) => {
    const body = { chart_id: 'installs', period_unit: 'day', filters: { date } };
    const { json } = await askChart(service, body, { 'service-tz': ZONE });
    return json.data.common.data[0].values.at(-1).x.slice(0, 10);
  };

  test('is the requested last day', async () => {
    expect(await lastDay(['2025-01-01', '2025-03-09'])).toBe('2025-03-09');
  });

  test('is today if the requested last day is in the future', async () => {
    expect(await lastDay(['2025-01-01', '2026-03-09'])).toBe('2025-04-20');
  });
});
