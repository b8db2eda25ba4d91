// Charts remember the facts of profiles whose label is pending. However these facts change meanwhile, charts must equal
// what the oracle counts.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHART_IDS, chart, segmentationsOf } from '../../src/analytics/catalogue.ts';
import { PURCHASES } from '../../src/analytics/entries.ts';
import { readFactsState } from '../../src/analytics/facts-state.ts';
import { LabelMemory } from '../../src/analytics/relabelled/labels.ts';
import {
  AMOUNTS_AT,
  FactMemory,
  REMEMBERED_AMOUNTS,
  REMEMBERED_DAYS,
  WIDTH,
} from '../../src/analytics/relabelled/memory.ts';
import {
  createRelabelledReader,
  type ReadRelabelled,
  type Relabelled,
} from '../../src/analytics/relabelled/profiles.ts';
import { type FactLists, factsByPlace, MAX_FACTS_READ } from '../../src/analytics/relabelled/reads.ts';
import { sumRelabelled } from '../../src/analytics/relabelled/sums.ts';
import { readChartRequest } from '../../src/analytics/request.ts';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { refreshTotals } from '../../src/facts/totals.ts';
import { momentCode } from '../../src/facts/totals-schema.ts';
import { raiseVersion } from '../../src/facts/version.ts';
import { startService, type TestService } from '../setup/service.ts';
import { history, NOW, PRODUCTS } from './histories.ts';
import { addApp, addProducts, type Home, importProfiles, importTransactions, totalAll } from './import.ts';
import { consultOracle, type Question } from './oracle.ts';
import type { World } from './oracle-facts.ts';
import { ask } from './questions.ts';

const APP_ZONE = 'America/New_York';
let service: TestService;

beforeAll(async () => {
  service = await startService({ now: () => new Date(NOW) });
});
afterAll(() => service.close());

const completeTotals = () => totalAll(service.deps.db);

const SPANS = {
  month: ['2024-12-01', '2025-05-31'],
  day: ['2025-03-20', '2025-04-20'],
};

/** Questions about what totals have by day, what they have by month, and what they do not have. */
const BY_LABEL: Question[] = CHART_IDS.flatMap((chart_id) =>
  (
    [
      ['attribution_status', 'day'],
      ['attribution_status', 'month'],
      ['attribution_campaign', 'month'],
      ['attribution_adset', 'day'],
    ] as const
  )
    .filter(([segmentation]) => segmentationsOf(chart(chart_id)).includes(segmentation))
    .map(([segmentation, period_unit]) => ({
      chart_id,
      segmentation,
      period_unit,
      date_type: 'purchase_date',
      filters: { date: SPANS[period_unit] },
    })),
);

/** Expects what the oracle counts. Raising the version keeps earlier answers from being returned. */
async function expectOracle(home: Home, world: World): Promise<void> {
  await raiseVersion(service.deps.db, home.app.app_key);
  for (const question of BY_LABEL) {
    const expected = consultOracle(world, question, APP_ZONE);
    expect(await ask(home, question, APP_ZONE), JSON.stringify(question)).toEqual(expected);
  }
}

const CAMPAIGNS = ['first', 'second', 'third'] as const;
type Campaign = (typeof CAMPAIGNS)[number];

/** Returns everybody with another label, of one status or the other. */
function labelled({ profiles }: World, campaign: Campaign): World['profiles'] {
  return profiles.map((profile, i) => ({
    ...profile,
    attribution: {
      status: (i + CAMPAIGNS.indexOf(campaign)) % 2 === 0 ? 'organic' : 'non_organic',
      campaign: `${campaign}${i % 3}`,
      ad_set: campaign,
    },
  }));
}

/** Returns the transactions with every other one in an earlier state: another price, not refunded, never cancelled. */
function before({ transactions }: World): World['transactions'] {
  return transactions.map((transaction, i) => {
    if (i % 2 === 0) return transaction;
    const { refunded_at: _, cancellation_reason: __, ...rest } = transaction;
    return { ...rest, price: { ...rest.price, value: rest.price.value && rest.price.value + 1 } } as never;
  });
}

/** Purchases to which something happens today: their refunds. */
const TODAY: World['transactions'] = [0, 1, 2].map((i) => ({
  customer_user_id: `p${i}`,
  purchase_type: 'one_time_purchase',
  store: 'stripe',
  store_product_id: 'forever',
  store_transaction_id: `today${i}`,
  store_original_transaction_id: `today${i}`,
  price: { country: 'DE', currency: 'USD', value: 5 },
  purchased_at: '2025-04-10T12:00:00Z',
  refunded_at: '2025-04-20T12:00:00Z',
  cancellation_reason: 'refund',
}));

const LONGEST_HISTORY = fc
  .sample(history, { seed: 5, numRuns: 200 })
  .toSorted((a, b) => b.transactions.length - a.transactions.length)[0]!;
const WORLD: World = { ...LONGEST_HISTORY, transactions: [...TODAY, ...LONGEST_HISTORY.transactions] };
const THIRD = Math.floor(WORLD.transactions.length / 3);

/** Returns the transactions with one that no longer counts, of a profile with no other change. */
function shared({ transactions }: World): World['transactions'] {
  return transactions.map((one) => (one === TODAY[1] ? { ...one, is_family_shared: true } : one));
}

test('charts stay exact while remembered facts change, are totalled and labelled', { timeout: 120_000 }, async () => {
  const home = await addApp(service, { name: 'Relabelled', timezone: APP_ZONE });
  await addProducts(home, PRODUCTS);
  let world = WORLD;
  const label = async (campaign: Campaign) => {
    world = { ...world, profiles: labelled(WORLD, campaign) };
    await importProfiles(home, world.profiles);
  };
  const buy = async (transactions: World['transactions']) => {
    world = { ...world, transactions };
    await importTransactions(home, transactions);
  };
  await label('first');
  await buy(before(WORLD).slice(THIRD));
  await completeTotals();

  await label('second');
  // Charts now remember the facts of those profiles that have not bought meanwhile.
  await buy(before(WORLD));
  await expectOracle(home, world);
  await completeTotals();
  await expectOracle(home, world);

  await label('third');
  await buy(WORLD.transactions);
  await expectOracle(home, world);
  await refreshTotals(service.deps.db, 3);
  await expectOracle(home, world);
  await completeTotals();
  await expectOracle(home, world);

  await importProfiles(home, labelled(WORLD, 'first').slice(0, 2));
  await relabelBatch(service.deps.db, 3);
  await label('first');
  await expectOracle(home, world);

  while ((await relabelBatch(service.deps.db)) > 0);
  await completeTotals();
  await label('second');
  await ask(home, BY_LABEL[0]!, APP_ZONE);
  await buy(shared(WORLD));
  await expectOracle(home, world);
  await completeTotals();
  await expectOracle(home, world);
});

describe('a lookup', () => {
  let home: Home;
  let read: ReadRelabelled;

  beforeAll(async () => {
    home = await addApp(service, { name: 'Looked up', timezone: APP_ZONE });
    await addProducts(home, PRODUCTS);
    await importProfiles(home, labelled(WORLD, 'first'));
    await importTransactions(home, before(WORLD));
    await completeTotals();
    await importProfiles(home, labelled(WORLD, 'second'));
  });

  /** Looks up what a question by status needs. */
  async function readLabels(): Promise<Relabelled> {
    const body = {
      chart_id: 'revenue',
      segmentation: 'attribution_status',
      filters: { date: ['2025-01-01', '2025-04-20'] },
    };
    const now = service.deps.now();
    const query = readChartRequest({ body, zoneHeader: undefined, appZone: APP_ZONE, now });
    const { db } = service.deps;
    const state = await readFactsState(db, home.app, query);
    return (await read(db, { query, app: home.app, span: query.span, state, filters: [] }))!;
  }

  async function count(): Promise<{ remembered: number; others: number }> {
    const { profiles, others } = await readLabels();
    return { remembered: profiles.length, others: others.length };
  }

  test('reads facts that changed since they were remembered, until they are relabelled', async () => {
    let run = 0;
    read = createRelabelledReader({
      serverRun: {
        get number() {
          return run;
        },
      },
    });
    const all = new Set(WORLD.transactions.map(({ customer_user_id }) => customer_user_id)).size;
    expect(await count()).toEqual({ remembered: all, others: 0 });

    const { customer_user_id } = WORLD.transactions.find((_, i) => i % 2 === 1)!;
    const changed = WORLD.transactions.filter((one) => one.customer_user_id === customer_user_id);
    await importTransactions(home, changed);
    expect(await count()).toEqual({ remembered: all - 1, others: 1 });
    await completeTotals();
    expect(await count()).toEqual({ remembered: all - 1, others: 1 });

    // After a standby takes over, the same place in the queue may belong to another profile.
    const factsOf = ({ profiles }: Relabelled) => new Set(profiles.map(({ facts }) => facts));
    const known = factsOf(await readLabels());
    expect([...factsOf(await readLabels())].every((facts) => known.has(facts))).toBe(true);
    run++;
    expect([...factsOf(await readLabels())].some((facts) => known.has(facts))).toBe(false);

    const { db } = service.deps;
    const listRetotalled = () =>
      db.selectFrom('label_retotalled').where('app_key', '=', home.app.app_key).select('queue_no').execute();
    expect(await listRetotalled()).toHaveLength(1);
    await relabelBatch(db, 100);
    expect(await listRetotalled()).toEqual([]);
    // Totals leave this row for a profile whose facts have just been relabelled.
    await db.insertInto('label_retotalled').values({ app_key: home.app.app_key, queue_no: 0n }).execute();
    while ((await relabelBatch(db)) > 0);
    expect(await listRetotalled()).toEqual([]);
  });
});

describe('the memory', () => {
  const factsOf = (count: number) => new Float64Array(count * WIDTH);

  test('is bounded; profiles whose label is no longer pending make room, and so does an app that is not queried', () => {
    const memory = new FactMemory();
    const all = memory.room;
    memory.prepare(1, { firstPending: 1, now: 0 });
    memory.prepare(2, { firstPending: 1, now: 0 });
    memory.add(1, 1, factsOf(all / 2));
    memory.add(2, 1, factsOf(all / 2));
    expect(memory.find(1, 1)).toBeDefined();
    expect(memory.find(2, 1)).toBeUndefined();
    memory.add(1, 2, factsOf(10));
    memory.prepare(1, { firstPending: 2, now: 0 });
    expect(memory.find(1, 1)).toBeUndefined();
    expect(memory.find(1, 2)).toHaveLength(10 * WIDTH);

    memory.prepare(2, { firstPending: 1, now: 300_000 });
    expect(memory.find(1, 2)).toBeUndefined();
    expect(memory.room).toBe(all);
  });

  test('keeps an app that has been queried meanwhile, and takes room for a profile once', () => {
    const memory = new FactMemory();
    const all = memory.room;
    memory.prepare(1, { firstPending: 1, now: 0 });
    for (const _ of ['by one query', 'by another']) memory.add(1, 1, factsOf(10));
    memory.prepare(1, { firstPending: 1, now: 200_000 });
    memory.prepare(2, { firstPending: 1, now: 400_000 });
    expect(memory.find(1, 1)).toHaveLength(10 * WIDTH);
    memory.prepare(1, { firstPending: 2, now: 400_000 });
    expect(memory.room).toBe(all);
  });

  test('of labels knows those with lower keys and the last key for which it grew', async () => {
    const { db } = service.deps;
    const labels = new LabelMemory();
    await db
      .insertInto('dim_attribution')
      .values(
        [4_000, 4_096].map((attribution_key) => ({
          attribution_key,
          tuple_hash: Buffer.from(`label ${attribution_key}`),
          status_key: attribution_key - 3_000,
          ad_set: `ad set ${attribution_key}`,
        })),
      )
      .execute();
    await labels.learn(db, [4_000]);
    await labels.learn(db, [4_096]);
    expect([4_000, 4_096].map((key) => labels.isKnown(key))).toEqual([true, true]);
    expect([4_000, 4_096].map((key) => labels.numbersOf('status_key')[key])).toEqual([1_000, 1_096]);
    expect([4_000, 4_096].map((key) => labels.numbersOf('ad_set')[key])).toEqual([1, 2]);
  });

  test('sums more cells than it had room for at first', () => {
    const fact = factsOf(1).fill(Number.NaN, 0, REMEMBERED_DAYS.length);
    fact[momentCode('purchased')] = 20_000;
    fact[AMOUNTS_AT + REMEMBERED_AMOUNTS.indexOf('revenue')] = 7_000_001;
    const profiles = Array.from({ length: 300 }, (_, i) => {
      const keys = { earlier: 0, later: i + 1 };
      return { facts: fact, totalKeys: keys, labelKeys: keys };
    });
    const entries = { ...PURCHASES, where: [] };
    const { keys, facts, amounts } = sumRelabelled(profiles, entries, {
      edges: [20_000, 20_001],
      horizon: 20_001,
      by: 'totalKeys',
    });
    expect(keys).toEqual(Array.from({ length: 301 }, (_, key) => key));
    expect(facts).toEqual([-300, ...profiles.map(() => 1)]);
    expect(amounts[0]).toEqual([-2_100_000_300n, ...profiles.map(() => 7_000_001n)]);
  });

  const COLUMNS = [...REMEMBERED_DAYS, ...REMEMBERED_AMOUNTS];
  const listsOf = (places: number[], amount: number): FactLists => ({
    ...Object.fromEntries(COLUMNS.map((name) => [name, places.map(() => amount)])),
    places,
    flags: places.map(() => 0),
  });

  test('holds all facts of a profile or none, and only exact ones', () => {
    expect(factsByPlace(listsOf([3, 5, 5], 7), [3, 4, 5])).toEqual(
      new Map([
        [3, new Float64Array(WIDTH).fill(7).fill(0, 7, 8)],
        [5, new Float64Array(2 * WIDTH).map((_, i) => (i % WIDTH === 7 ? 0 : 7))],
        [4, new Float64Array()],
      ]),
    );
    expect(factsByPlace(listsOf([3], 2 ** 53), [3])).toEqual(new Map([[3, null]]));
    // The last place may have more facts, and the one after it was not reached.
    const full = Array.from({ length: MAX_FACTS_READ }, (_, i) => (i < 2 ? 3 : 4));
    expect([...factsByPlace(listsOf(full, 7), [3, 4, 5]).keys()]).toEqual([3]);
    expect(factsByPlace(listsOf(full.fill(4), 7), [4, 5])).toEqual(new Map([[4, null]]));
  });
});
