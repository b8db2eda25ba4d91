// Generated histories: every chart must equal what the slow oracle counts, for random questions in random zones.
import fc from 'fast-check';
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHART_IDS, chart, segmentationsOf } from '../../src/analytics/catalogue.ts';
import type { DB } from '../../src/db/types.ts';
import { refreshColumns } from '../../src/facts/columns.ts';
import { DAY_MS } from '../../src/lib/datetime.ts';
import { startService, type TestService } from '../setup/service.ts';
import { history, NOW, PRODUCTS } from './histories.ts';
import { addApp, addProducts, type Home, importProfiles, importTransactions, totalAll } from './import.ts';
import { consultOracle } from './oracle.ts';
import type { World } from './oracle-facts.ts';
import { ask, questions } from './questions.ts';

const APP_ZONE = 'America/New_York';
let service: TestService;

beforeAll(async () => {
  service = await startService({ now: () => new Date(NOW) });
});
afterAll(() => service.close());

async function settle({ profiles, transactions }: World): Promise<Home> {
  const home = await addApp(service, { name: 'History', timezone: APP_ZONE });
  await addProducts(home, PRODUCTS);
  await importProfiles(home, profiles);
  await importTransactions(home, transactions);
  return home;
}

test('all charts answer as the oracle counts', { timeout: 180_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(history, questions(6), async (world, asked) => {
      const home = await settle(world);
      for (const { question, zoneName } of asked) {
        const expected = consultOracle(world, question, zoneName);
        expect(await ask(home, question, zoneName), JSON.stringify({ question, zoneName })).toEqual(expected);
      }
    }),
    // For a small counterexample, remove endOnFailure; shrinking takes minutes.
    { numRuns: Number(process.env.HISTORIES ?? 2), endOnFailure: true },
  );
});

const at = (ms: number) => new Date(ms).toISOString();

/** A period of an unconfigured product. Generated histories need not have periods whose moments coincide. */
function periodOf(
  chain: string,
  begins: number,
  { id = chain, days = 30, ...more }: { id?: string; days?: number } & Partial<World['transactions'][number]> = {},
): World['transactions'][number] {
  return {
    customer_user_id: 'p0',
    purchase_type: 'subscription',
    store: 'app_store',
    store_product_id: 'unconfigured',
    store_transaction_id: id,
    store_original_transaction_id: chain,
    price: { country: 'DE', currency: 'USD', value: 10 },
    purchased_at: at(begins),
    originally_purchased_at: at(Date.parse('2024-11-20T00:00:00Z')),
    expires_at: at(begins + days * DAY_MS),
    renew_status: true,
    ...more,
  };
}

/** The beginnings of periods that end at this moment: a month, or a month with a grace period of three days. */
const endsAt = (moment: number) => [moment - 30 * DAY_MS, {}] as const;
const graceEndsAt = (moment: number, more: object = {}) => {
  const expires = moment - 3 * DAY_MS;
  const grace = { billing_issue_detected_at: at(expires), grace_period_expires_at: at(moment) };
  return [expires - 30 * DAY_MS, { ...grace, ...more }] as const;
};
const refunded = (moment: number) => ({ refunded_at: at(moment), cancellation_reason: 'refund' });

const COINCIDENCE = Date.parse('2025-04-10T08:00:00Z');
const LENGTHS = [5, 6, 8, 9, 27, 28, 31, 32, 58, 59, 62, 63, 88, 89, 93, 94, 179, 180, 184, 185, 359, 360, 372, 373];
/** In days. Half a day is rounded up, to an even number of days or not. */
const HALF_LENGTHS = [5.5, 8.5, 27.5, 31.5];
const FREE_TRIAL = {
  price: { country: 'DE', currency: 'USD', value: 0 },
  offer: { category: 'introductory', type: 'free_trial', id: null },
};

const EDGES: World = {
  profiles: [-1, 0, 1].map((ms, index) => ({ customer_user_id: `p${index}`, installed_at: at(NOW + ms) })),
  transactions: [
    ...[...LENGTHS, ...HALF_LENGTHS].map((days) => periodOf(`length ${days}`, NOW - DAY_MS, { days })),
    ...[-1, 0, 1].flatMap((ms) => [
      periodOf(`end ${ms}`, ...endsAt(COINCIDENCE)),
      periodOf(`end ${ms}`, COINCIDENCE + ms, { id: 'next' }),
      periodOf(`grace ${ms}`, ...graceEndsAt(COINCIDENCE)),
      periodOf(`grace ${ms}`, COINCIDENCE + ms, { id: 'next' }),
      periodOf(`refund ${ms}`, ...graceEndsAt(COINCIDENCE + DAY_MS, refunded(COINCIDENCE))),
      periodOf(`refund ${ms}`, COINCIDENCE + ms, { id: 'next' }),
      periodOf(`refund at the end ${ms}`, COINCIDENCE - 30 * DAY_MS, refunded(COINCIDENCE + ms)),
      periodOf(`begins ${ms}`, NOW + ms),
      periodOf(`ends ${ms}`, ...endsAt(NOW + ms)),
      periodOf(`grace ends ${ms}`, ...graceEndsAt(NOW + ms)),
      periodOf(`refunded ${ms}`, COINCIDENCE, refunded(NOW + ms)),
      periodOf(`cancelled ${ms}`, COINCIDENCE, { renew_status: false, renew_status_changed_at: at(NOW + ms) }),
    ]),
    // An issue noticed before the period ends counts when it is noticed; a cancellation without a date never counts.
    periodOf('issue', COINCIDENCE - DAY_MS, { billing_issue_detected_at: at(COINCIDENCE) }),
    periodOf(
      'issue before its grace',
      ...graceEndsAt(COINCIDENCE + 5 * DAY_MS, { billing_issue_detected_at: at(COINCIDENCE) }),
    ),
    periodOf('cancelled without a date', COINCIDENCE, { days: 7, renew_status: false }),
    // A configured product lends its duration to a trial, whatever is bought after it, but not its length to a period.
    periodOf('configured', COINCIDENCE - 7 * DAY_MS, { days: 7, store_product_id: 'monthly', ...FREE_TRIAL }),
    periodOf('configured', COINCIDENCE, { id: 'next', days: 365, store_product_id: 'annual' }),
    periodOf('longer than configured', COINCIDENCE, { days: 91, store_product_id: 'monthly' }),
    // More renewals than have a name of their own, the last of them still active.
    ...Array.from({ length: 10 }, (_, i) =>
      periodOf('renewed', COINCIDENCE + (i - 8) * 7 * DAY_MS, { id: `renewal ${i}`, days: 7 }),
    ),
    // A one-time purchase is a chain of its own, even if its id is that of a subscription.
    periodOf('shared id', COINCIDENCE - 10 * DAY_MS, { id: 'first' }),
    periodOf('shared id', COINCIDENCE, { purchase_type: 'one_time_purchase' }),
    // Both at the same moment: the free one is first by code point, and so becomes the trial of the chain.
    periodOf('order', COINCIDENCE, { id: 'a' }),
    periodOf('order', COINCIDENCE, { id: 'B', price: { country: 'DE', currency: 'USD', value: 0 } }),
  ],
  products: PRODUCTS,
  now: NOW,
};

/** What the background does before the question. */
const UPKEEP: Record<string, (db: Kysely<DB>) => Promise<void>> = {
  'facts alone': async () => undefined,
  totals: totalAll,
  // Only the last month has enough facts to get columns.
  'totals and some columns': async (db) => {
    await totalAll(db);
    while ((await refreshColumns(db, { minFacts: 40 })) > 0);
  },
};

test.each(
  Object.keys(UPKEEP).flatMap((upkeep) => [APP_ZONE, 'Asia/Kathmandu'].map((zoneName) => ({ upkeep, zoneName }))),
)(
  'all charts answer as the oracle counts at the edges of the rules, from $upkeep, in $zoneName',
  { timeout: 60_000 },
  async ({ upkeep, zoneName }) => {
    const home = await settle(EDGES);
    await UPKEEP[upkeep]!(home.database.db);
    for (const chart_id of CHART_IDS) {
      for (const date_type of ['purchase_date', 'profile_install_date']) {
        const segmentation = segmentationsOf(chart(chart_id)).find((name) => name === 'duration');
        const split = segmentation && { segmentation };
        const question = { chart_id, date_type, period_unit: 'day', filters: { date: ['2025-04-08', '2025-04-21'] } };
        const expected = consultOracle(EDGES, { ...question, ...split }, zoneName);
        expect(await ask(home, { ...question, ...split }, zoneName), `${chart_id} ${date_type}`).toEqual(expected);
      }
    }
  },
);
