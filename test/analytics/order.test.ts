// The order in which transactions arrive does not matter: they are shuffled, some of them arrive in pieces, and each
// transaction replaces an earlier version of itself.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHART_IDS, chart, segmentationsOf } from '../../src/analytics/catalogue.ts';
import { startService, type TestService } from '../setup/service.ts';
import { history, NOW, PRODUCTS } from './histories.ts';
import { addApp, addProducts, type Home, importProfiles, importTransactions } from './import.ts';
import type { TransactionRecord, World } from './oracle-facts.ts';
import { ask } from './questions.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ now: () => new Date(NOW) });
});
afterAll(() => service.close());

async function settle({ profiles }: World, pieces: TransactionRecord[][]): Promise<Home> {
  const home = await addApp(service, { name: 'History' });
  await addProducts(home, PRODUCTS);
  await importProfiles(home, profiles);
  for (const piece of pieces) await importTransactions(home, piece);
  return home;
}

async function answers(home: Home) {
  const asked = CHART_IDS.map((chart_id) => {
    const filters = { date: ['2024-11-01', '2025-04-20'] };
    const segmentation = segmentationsOf(chart(chart_id)).at(-1)!;
    return ask(home, { chart_id, period_unit: 'week', date_type: 'purchase_date', segmentation, filters }, 'UTC');
  });
  return Promise.all(asked);
}

/** Returns the transaction as it was known earlier: not refunded, and at another price. */
function earlierVersion({ refunded_at: _, cancellation_reason: __, ...record }: TransactionRecord): TransactionRecord {
  const isTrial = record.offer?.type === 'free_trial';
  return { ...record, price: { country: 'FR', currency: 'USD', value: isTrial ? 0 : 77 } };
}

function cut<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, i) => values.slice(i * size, (i + 1) * size));
}

/** `npm run test:states` and CI try ten. */
const ORDERS = process.env.HISTORIES === undefined ? 3 : 10;

test(`transactions in ${ORDERS} shuffled orders and pieces give equal answers`, { timeout: 120_000 }, async () => {
  const [world] = fc.sample(
    history.filter(({ transactions }) => transactions.length > 30 && transactions.length < 50),
    { numRuns: 1, seed: 7 },
  );
  const { transactions } = world!;
  const expected = await answers(await settle(world!, [transactions]));
  const orders = fc.sample(fc.shuffledSubarray(transactions, { minLength: transactions.length }), {
    numRuns: ORDERS,
    seed: 11,
  });
  for (const [i, order] of orders.entries()) {
    const pieces = i % 2 === 0 ? [order] : cut(order, 5 + i * 2);
    expect(await answers(await settle(world!, pieces)), `order ${i}`).toEqual(expected);
  }
  const replaced = await settle(world!, [orders[0]!.map(earlierVersion), ...cut(orders[1]!, 20)]);
  expect(await answers(replaced)).toEqual(expected);
});
