// Importing a file of transactions has the same outcome as setting its records one after the other over HTTP
// (docs/decisions/0009-import.md), wherever the file is cut in two.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importFile } from '../../src/import/import-file.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { createProfile, readProfile } from '../profile/world.ts';
import { setTransaction } from '../purchases/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { toNdjson } from './world.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'sps-one-by-one-'));
  await addAccessLevel(service, 'premium');
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  await addProduct(service, 'lifetime', { access_level_id: 'premium', duration: 'Lifetime' });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const DAY_MS = 86_400_000;
const dayOf = (day: number) => new Date(Date.parse('2025-01-01T12:00:00Z') + day * DAY_MS).toISOString();
/** Days since the purchase; a few are negative, and refused. */
const later = fc.integer({ min: -3, max: 60 });
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** A record of one of two chains with few transactions each; some records contradict themselves and are refused. */
const record = fc.record({
  chain: fc.nat(1),
  number: fc.nat(3),
  purchase_type: fc.constantFrom('subscription', 'subscription', 'subscription', 'one_time_purchase'),
  store: fc.constantFrom('app_store', 'app_store', 'stripe'),
  store_product_id: fc.constantFrom('monthly', 'lifetime', 'unconfigured'),
  price: fc.record({
    country: fc.constantFrom('US', 'DE'),
    currency: fc.constant('USD'),
    value: fc.constantFrom(0, 10, 9.99),
    proceeds_usd: rarely(fc.constantFrom(5, 11)),
  }),
  bought: fc.nat(3).map((month) => 30 * month),
  lasts: fc.constantFrom(7, 30, 30, 30),
  renew_status: fc.boolean(),
  turned: rarely(later),
  issue: rarely(fc.record({ after: later, grace: rarely(later) })),
  refund: rarely(later),
  offer: rarely(
    fc.constantFrom({ category: 'introductory', type: 'free_trial' }, { category: 'promotional', id: 'x' }),
  ),
  environment: rarely(fc.constantFrom('Production', 'Sandbox')),
  is_family_shared: rarely(fc.boolean()),
});
type Chosen = typeof record extends fc.Arbitrary<infer T> ? T : never;

function transactionOf({ chain, number, bought, lasts, turned, issue, refund, ...members }: Chosen, customer: string) {
  const isOneTime = members.purchase_type === 'one_time_purchase';
  const since = (days: number | undefined) => (days === undefined ? undefined : dayOf(bought + days));
  return {
    ...members,
    store_transaction_id: `${customer}-${chain}-${number}`,
    store_original_transaction_id: `${customer}-${chain}${isOneTime ? `-${number}` : ''}`,
    purchased_at: dayOf(bought),
    renew_status_changed_at: since(turned),
    billing_issue_detected_at: since(issue?.after),
    grace_period_expires_at: since(issue?.grace),
    ...(refund !== undefined && { refunded_at: since(refund), cancellation_reason: 'refund' }),
    ...(!isOneTime && { originally_purchased_at: dayOf(0), expires_at: dayOf(bought + lasts) }),
  };
}

/** Imports the records and returns how many were refused. */
async function importRecords(customer: string, records: readonly Chosen[]): Promise<number> {
  const file = join(folder, `${customer}.ndjson`);
  const named = records.map((one) => ({ customer_user_id: customer, ...transactionOf(one, customer) }));
  await writeFile(file, toNdjson(named));
  const { deps, app, database } = service;
  const { rejected } = await importFile(TRANSACTIONS, { connectionString: database.url, app, file, now: deps.now });
  return rejected;
}

async function setRecords(customer: string, records: readonly Chosen[]): Promise<number> {
  let refused = 0;
  for (const one of records) {
    const { status } = await setTransaction(service, customer, transactionOf(one, customer));
    expect([200, 400]).toContain(status);
    if (status === 400) refused++;
  }
  return refused;
}

/** What the profile shows and, sorted, the facts that charts count of it; without anything that names this profile. */
async function stateOf(customer: string) {
  const { data } = (await readProfile(service, { customer })).json;
  const rows = service.deps.db.selectFrom('fact_transaction').selectAll().where('profile_id', '=', data.profile_id);
  const withoutNames = (value: object) =>
    JSON.stringify(value, (name, member) => {
      if (['purchase_id', 'purchase_no', 'timestamp', 'installed_at'].includes(name)) return undefined;
      return typeof member === 'bigint' ? `${member}` : member;
    })
      .replaceAll(data.profile_id, 'profile')
      .replaceAll(customer, 'customer');
  return { profile: JSON.parse(withoutNames(data)), facts: (await rows.execute()).map(withoutNames).sort() };
}

let runs = 0;

test('an import has the same outcome as its records over HTTP', { timeout: 120_000 }, async () => {
  const records = fc.array(record, { minLength: 1, maxLength: 10 });
  const property = fc.asyncProperty(records, fc.nat(10), async (all, cut) => {
    runs++;
    const [imported, set] = [`imported-${runs}`, `set-${runs}`];
    for (const customer of [imported, set]) {
      await createProfile(service, { customer }, { installed_at: '2025-01-01T00:00:00Z' });
    }
    const refused =
      (await importRecords(imported, all.slice(0, cut))) + (await importRecords(imported, all.slice(cut)));
    expect(refused).toBe(await setRecords(set, all));
    expect(await stateOf(imported)).toEqual(await stateOf(set));
  });
  await fc.assert(property, { numRuns: 20, interruptAfterTimeLimit: 60_000 });
});
