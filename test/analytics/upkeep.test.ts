// The background work on facts: what one app makes impossible is done for the others.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { countBacklog } from '../../src/facts/backlog.ts';
import { refreshTotals } from '../../src/facts/totals.ts';
import { startUpkeep } from '../../src/facts/upkeep.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addApp, askChart, type Home, importProfiles, importTransactions } from './import.ts';

let service: TestService;
/** Its totals overflow: what it sold in a month is more than a bigint of 10^-9 USD holds. */
let rich: Home;
let other: Home;

/** So many one-time purchases of January 2025 at this price. */
function coins(count: number, value: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    customer_user_id: 'u',
    purchase_type: 'one_time_purchase',
    store: 'stripe',
    store_product_id: 'coins',
    store_transaction_id: `t${i}`,
    store_original_transaction_id: `t${i}`,
    price: { country: 'US', currency: 'USD', value },
    purchased_at: '2025-01-10T00:00:00Z',
  }));
}

function labelled(status: string): object[] {
  return [{ customer_user_id: 'u', installed_at: '2025-01-02T00:00:00Z', attribution: { status } }];
}

beforeAll(async () => {
  service = await startService();
  rich = await addApp(service, { name: 'Rich' });
  other = await addApp(service, { name: 'Other' });
  await importProfiles(rich, labelled('organic'));
  await importTransactions(rich, coins(10, 1_000_000_000));
  await importProfiles(other, labelled('organic'));
  await importTransactions(other, coins(3, 5));
});
afterAll(() => service.close());

async function revenueOf(home: Home): Promise<number> {
  const { json } = await askChart(home, { filters: { date: ['2025-01-01', '2025-01-31'] } });
  return json.data.revenue.value;
}

test('an app whose totals overflow keeps none of the others from theirs, and its charts are exact', async () => {
  await expect(refreshTotals(service.deps.db)).rejects.toThrow('bigint out of range');
  expect(await countBacklog(service.deps.db)).toMatchObject({ facts_pending: 10 });
  expect(await revenueOf(rich)).toBe(10_000_000_000);
  expect(await revenueOf(other)).toBe(15);
});

test('nor does it keep labels from being brought to facts and totals', async () => {
  await importProfiles(other, labelled('non_organic'));
  const upkeep = startUpkeep(service.deps);
  const done = { facts_pending: 10, facts_retired: 0, facts_moved: 0, labels_pending: 0 };
  await vi.waitFor(async () => expect(await countBacklog(service.deps.db)).toEqual(done), 10_000);
  await upkeep.stop();
});
