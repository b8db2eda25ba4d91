// More segments than an answer has room for: JSON sums up the rest as "Other", recomputed from its facts; CSV has all
// segments until there are too many rows.
import { Kysely, PostgresDialect, sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dimension } from '../../src/analytics/dimensions.ts';
import { listKeys } from '../../src/analytics/filter-keys.ts';
import { MAX_KEYS, numberSegments } from '../../src/analytics/segments.ts';
import { createPool } from '../../src/db/client.ts';
import type { DB } from '../../src/db/types.ts';
import { raiseVersion } from '../../src/facts/version.ts';
import { startService, type TestService } from '../setup/service.ts';
import { completeColumns, completeTotals } from './background.ts';
import { addApp, askChart, importProfiles, importTransactions } from './import.ts';

const CAMPAIGNS = 520;
let service: TestService;

/** The purchase of the payer of campaign n, for n USD. */
const bought = (n: number, { id, purchased_at }: { id: string; purchased_at: string }) => ({
  customer_user_id: `payer${n}`,
  purchase_type: 'one_time_purchase',
  store: 'stripe',
  store_product_id: 'coins',
  store_transaction_id: id,
  store_original_transaction_id: id,
  price: { country: 'DE', currency: 'USD', value: n },
  purchased_at,
});

/** Campaign n has one profile that pays n USD on 10 January, and n % 3 further installs in February. */
beforeAll(async () => {
  service = await startService({ now: () => new Date('2025-06-15T12:00:00Z') });
  const numbers = Array.from({ length: CAMPAIGNS }, (_, i) => i + 1);
  const profile = (id: string, installed_at: string, n: number) => ({
    customer_user_id: id,
    installed_at,
    country: 'DE',
    attribution: { status: 'non_organic', campaign: `c${n}`, channel: n % 2 === 0 ? 'even' : 'odd' },
  });
  await importProfiles(service, [
    ...numbers.map((n) => profile(`payer${n}`, '2025-01-05T00:00:00Z', n)),
    ...numbers.flatMap((n) => Array.from({ length: n % 3 }, (_, i) => profile(`${n}-${i}`, '2025-02-05T00:00:00Z', n))),
  ]);
  await importTransactions(
    service,
    numbers.map((n) => bought(n, { id: `t${n}`, purchased_at: '2025-01-10T00:00:00Z' })),
  );
}, 60_000);
afterAll(() => service.close());

interface Series {
  title: string;
  type: string;
  value: number;
  values: { y: number }[];
  compare_values: { y: number }[] | null;
}

const date = ['2025-01-01', '2025-03-31'];
const total = CAMPAIGNS * (CAMPAIGNS + 1) * 0.5;

async function ask(body: object): Promise<Series[]> {
  const { json, status, text } = await askChart(service, {
    filters: { date },
    segmentation: 'attribution_campaign',
    ...body,
  });
  if (status !== 200) throw new Error(text.slice(0, 1000));
  const [first, ...others] = Object.values(json.data as Record<string, { data: Series[] }>).map(({ data }) => data);
  for (const other of others) expect(other.map(({ type }) => type)).toEqual(first!.map(({ type }) => type));
  return first!;
}

/** The filter for the campaigns 1 to `count`. */
const lowest = (count: number) => ({ attribution_campaign: Array.from({ length: count }, (_, i) => `c${i + 1}`) });

const figures = ({ value, values }: Series) => [value, ...values.map(({ y }) => y)];

describe('at most 500 series', () => {
  test('of a flow are the total, 498 segments, and the sum of the other 22', async () => {
    const series = await ask({ chart_id: 'revenue' });
    expect(series).toHaveLength(500);
    expect(series[0]).toMatchObject({ title: 'Total', type: 'total', value: total });
    expect(series.slice(1, 4).map(({ type }) => type)).toEqual(['c520', 'c519', 'c518']);
    expect(series.at(-2)).toMatchObject({ type: 'c23', value: 23 });
    const rest = (22 * 23) / 2;
    expect(series.at(-1)).toMatchObject({ title: 'Other', type: 'other' });
    expect(figures(series.at(-1)!)).toEqual([rest, rest, 0, 0]);
  });

  test('of equal value are ordered by code point', async () => {
    const series = await ask({ chart_id: 'installs' });
    const threes = series.filter(({ value }) => value === 3).map(({ type }) => type);
    expect(threes.slice(0, 4)).toEqual(['c101', 'c104', 'c107', 'c11']);
    expect(figures(series.at(-1)!)).toEqual([22, 22, 0, 0]);
  });

  test('are ranked by the range itself, not by the one it is compared with', async () => {
    const filters = { date: ['2025-02-01', '2025-02-28'], compare_date: ['2025-01-01', '2025-01-31'] };
    const series = await ask({ chart_id: 'revenue', filters });
    // Nobody paid in February, so code points decide.
    expect(series.slice(1, 4).map(({ type }) => type)).toEqual(['c1', 'c10', 'c100']);
    expect(series).toHaveLength(500);
  });

  test('of a ratio end with the revenue of the others over their installs', async () => {
    const series = await ask({ chart_id: 'arpu' });
    const { type, value, values } = series.at(-1)!;
    expect(type).toBe('other');
    const shown = new Set(series.slice(1, -1).map((one) => Number(one.type.slice(1))));
    const others = Array.from({ length: CAMPAIGNS }, (_, i) => i + 1).filter((n) => !shown.has(n));
    expect(others).toHaveLength(22);
    const revenue = others.reduce((sum, n) => sum + n, 0);
    const installs = others.reduce((sum, n) => sum + 1 + (n % 3), 0);
    expect(value).toBeCloseTo(revenue / installs, 6);
    expect(values[0]!.y).toBeCloseTo(revenue / 22, 6);
  });

  test('of arppu end with the revenue of the others over their distinct payers', async () => {
    const series = await ask({ chart_id: 'arppu' });
    expect(series).toHaveLength(500);
    expect(figures(series.at(-1)!)).toEqual([11.5, 11.5, 0, 0]);
  });

  test('of arppu are the same when counted in columns', async () => {
    await completeTotals(service.deps.db);
    await completeColumns(service.deps.db);
    // Another range, for which no answer is kept.
    const series = await ask({ chart_id: 'arppu', filters: { date: ['2025-01-02', '2025-03-31'] } });
    expect(series).toHaveLength(500);
    expect(figures(series.at(-1)!)).toEqual([11.5, 11.5, 0, 0]);
    const campaigns = ['c1', 'c2', 'c3'];
    const few = await ask({ chart_id: 'arppu', filters: { date, attribution_campaign: campaigns } });
    expect(few.map(({ type, value }) => [type, value])).toEqual([
      ['total', 2],
      ['c3', 3],
      ['c2', 2],
      ['c1', 1],
    ]);
    const both = { date, attribution_campaign: campaigns, attribution_channel: ['odd'] };
    const odd = await ask({ chart_id: 'arppu', filters: both });
    expect(odd.map(({ type, value }) => [type, value])).toEqual([
      ['total', 2],
      ['c3', 3],
      ['c1', 1],
    ]);
  });

  test('of arppu are the same when counted in columns together with the purchases of today, which arrive as one row', async () => {
    const today = '2025-06-15';
    await importTransactions(
      service,
      Array.from({ length: 30 }, (_, i) => bought(i + 1, { id: `today${i + 1}`, purchased_at: `${today}T01:00:00Z` })),
    );
    const usual = service.deps.analyticsDb;
    const settings = { max: 1, statementTimeoutMs: 10_000, applicationName: 'charts' };
    const pool = createPool({ ...settings, connectionString: service.database.url }, () => {});
    let most = 0;
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...query: unknown[]) => Promise<pg.QueryResult>;
      const watched = async (...asked: unknown[]) => {
        const result = await query(...asked);
        if (result.fields.some(({ name }) => name.startsWith('profile'))) most = Math.max(most, result.rows.length);
        return result;
      };
      Object.assign(client, { query: watched });
    });
    service.deps.analyticsDb = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
    try {
      const [all] = await ask({ chart_id: 'arppu', filters: { date: ['2025-01-01', today] } });
      expect(all!.values.at(-1)!.y).toBe(15.5);
      expect(most).toBe(1);
    } finally {
      await service.deps.analyticsDb.destroy();
      service.deps.analyticsDb = usual;
    }
  });

  test('are the same with more labels than the process holds, including those of other apps', async () => {
    const { deps, app } = service;
    const segmentation = dimension('attribution_campaign');
    const filtersOf = [{ attribution_status: ['non_organic'] }, lowest(499), lowest(500)];
    const bodies = ['revenue', 'arpu', 'arppu'].flatMap((chart_id) =>
      filtersOf.map((filters) => ({ chart_id, filters: { date, ...filters } })),
    );
    const askAll = () => Promise.all(bodies.map(ask));
    const before = await askAll();
    expect((await numberSegments(deps.db, { segmentation }))?.values).toContain('c520');
    await deps.db
      .insertInto('dim_attribution')
      .values({ attribution_key: MAX_KEYS + 1, tuple_hash: Buffer.from('more'), campaign: 'theirs' })
      .execute();
    await raiseVersion(deps.db, app.app_key);
    expect(await numberSegments(deps.db, { segmentation })).toBeUndefined();
    expect(await askAll()).toEqual(before);
    await deps.db.deleteFrom('dim_attribution').where('attribution_key', '>', MAX_KEYS).execute();
  });

  test('with a filter that matches hundreds of labels: they arrive as one row, so the driver creates one object', async () => {
    const arrived: number[] = [];
    const db = service.deps.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        arrived.push(result.rows.length);
        return result;
      },
    });
    const filter = { dimension: dimension('attribution_channel'), values: ['even', 'odd'] };
    expect(new Set(await listKeys(db, filter, MAX_KEYS)).size).toBe(CAMPAIGNS);
    expect(await listKeys(db, filter, 3)).toHaveLength(3);
    expect(await listKeys(db, { ...filter, values: ['none'] }, MAX_KEYS)).toEqual([]);
    expect(arrived).toEqual([1, 1, 1]);
  });

  test('of a flow and a ratio are the same when summed up from columns', async () => {
    const filters = { date, store: ['stripe'] };
    const revenue = await ask({ chart_id: 'revenue', filters });
    expect(revenue).toHaveLength(500);
    expect(revenue[0]).toMatchObject({ type: 'total', value: total });
    expect(revenue.slice(1, 4).map(({ type }) => type)).toEqual(['c520', 'c519', 'c518']);
    expect(figures(revenue.at(-1)!)).toEqual([253, 253, 0, 0]);
    const arppu = await ask({ chart_id: 'arppu', filters });
    expect(figures(arppu.at(-1)!)).toEqual([11.5, 11.5, 0, 0]);
    const arpu = { chart_id: 'arpu', filters: { date, country: ['DE'] } };
    expect(await ask(arpu)).toEqual(await ask({ chart_id: 'arpu' }));
  });

  test('when summed up from columns, those that rank highest in the main range are shown', async () => {
    // On 15 June only c1 to c30 have revenue.
    const filters = { date, compare_date: ['2025-06-15'], store: ['stripe'] };
    const series = await ask({ chart_id: 'revenue', filters });
    expect(series.slice(1, 4).map(({ type }) => type)).toEqual(['c520', 'c519', 'c518']);
    expect(figures(series.at(-1)!)).toEqual([253, 253, 0, 0]);
  });

  test('when summed up from columns, the last two of exactly 500 segments are shown as "Other"', async () => {
    const filters = { date, ...lowest(500), store: ['stripe'] };
    const series = await ask({ chart_id: 'revenue', filters });
    expect(series).toHaveLength(500);
    expect(series.at(-1)).toMatchObject({ type: 'other', value: 3 });
  });

  test('need no "other" for exactly 499 segments', async () => {
    const series = await ask({ chart_id: 'revenue', filters: { date, ...lowest(499) } });
    expect(series).toHaveLength(500);
    expect(series.at(-1)).toMatchObject({ type: 'c1', value: 1 });
  });

  test('of 500 segments end with an "other" of two', async () => {
    const series = await ask({ chart_id: 'revenue', filters: { date, ...lowest(500) } });
    expect(series).toHaveLength(500);
    expect(series.at(-2)).toMatchObject({ type: 'c3', value: 3 });
    expect(series.at(-1)).toMatchObject({ type: 'other', value: 3 });
  });
});

test('a filter finds rows with any of its labels, even more labels than a statement can list', async () => {
  const home = await addApp(service, { name: 'Many labels' });
  await sql`
    insert into dim_attribution (tuple_hash, channel)
    select convert_to('many ' || n, 'utf8'), 'many' from generate_series(1, 1001) n`.execute(service.deps.db);
  const attribution = { status: 'organic', channel: 'many' };
  await importProfiles(home, [{ customer_user_id: 'u', installed_at: '2025-01-05T00:00:00Z', attribution }]);
  const { json } = await askChart(home, {
    chart_id: 'installs',
    filters: { date: ['2025-01-01', '2025-01-31'], attribution_channel: ['many'] },
  });
  expect(json.data.common.value).toBe(1);
});

describe('at most 50,000 points', () => {
  test('1,000 days leave room for 50 series', async () => {
    const series = await ask({
      chart_id: 'revenue',
      period_unit: 'day',
      filters: { date: ['2022-07-06', '2025-03-31'] },
    });
    expect(series).toHaveLength(50);
    expect(series[0]!.values).toHaveLength(1000);
    expect(series.reduce((sum, { value }) => sum + value, 0)).toBe(2 * total);
  });

  test('the points of the comparison count too', async () => {
    const filters = { date: ['2025-01-01', '2025-01-31'], compare_date: ['2022-07-06', '2025-03-31'] };
    const series = await ask({ chart_id: 'revenue', period_unit: 'day', filters });
    expect(series).toHaveLength(48);
    expect(series[0]!.compare_values).toHaveLength(1000);
  });
});

describe('CSV', () => {
  const askCsv = (body: object) => askChart(service, { format: 'csv', segmentation: 'attribution_campaign', ...body });

  test('is not capped at 500 series', async () => {
    const { status, text } = await askCsv({ chart_id: 'non_subscriptions', filters: { date } });
    expect(status).toBe(200);
    expect(text.trimEnd().split('\r\n')).toHaveLength(1 + 3 * (1 + CAMPAIGNS));
    expect(text).not.toContain('other');
  });

  test('of half a million rows arrives complete', async () => {
    const filters = { date: ['2022-07-06', '2025-03-31'] };
    const { text } = await askCsv({ chart_id: 'non_subscriptions', period_unit: 'day', filters });
    expect(text.match(/\r\n/g)).toHaveLength(1 + 1000 * (1 + CAMPAIGNS));
  });

  test.each([
    { date: ['2022-07-06', '2025-03-31'] },
    { date: ['2025-03-31'], compare_date: ['2022-07-06', '2025-03-31'] },
  ])('of more than a million rows is refused: %j', async (filters) => {
    const { status, json } = await askCsv({ chart_id: 'revenue', period_unit: 'day', filters });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error_code: 'value_error', errors: [{ source: 'segmentation' }] });
  });
});

test('a CSV of arppu counted in columns has every segment, however many figures that are', async () => {
  await completeTotals(service.deps.db);
  await completeColumns(service.deps.db);
  const asked = { chart_id: 'arppu', period_unit: 'day', segmentation: 'attribution_campaign', format: 'csv' };
  const { status, text } = await askChart(service, { ...asked, filters: { date: ['2024-06-05', '2025-03-31'] } });
  expect(status).toBe(200);
  const rows = text.split('\r\n').filter((row) => row.includes('c520'));
  expect(rows).toHaveLength(3 * 300);
});
