// What imported transactions are worth: exchange rates, commissions, and amounts that are stored already.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setStore } from '../../src/apps/catalogue.ts';
import { importRates } from '../../src/import/rates.ts';
import { createWorld, listFacts, MONTH, RENEWAL, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.profiles({ customer_user_id: 'ann' });
});
beforeEach(async () => {
  await sql`truncate purchase, purchase_chain, fact_transaction`.execute(world.database.db);
});
afterAll(() => world.close());

const facts = () => listFacts(world);

test('a rate of the day of purchase or of one of the seven days before converts a price to dollars', async () => {
  const rates = await world.file('rates.csv', 'date,currency,usd_per_unit\n2025-01-02,EUR,1.5\n2025-01-10,EUR,9\n');
  await importRates(world.database, rates);
  const euros = { ...MONTH, price: { country: 'DE', currency: 'EUR', value: 10 } };
  await world.transactions(euros);
  expect(await facts()).toMatchObject([{ revenue: 15_000_000_000n }]);
  const later = { ...euros, purchased_at: '2025-01-18T12:00:00Z', store_transaction_id: 'later' };
  expect(await world.transactions(later)).toMatchObject({ rejected: 1 });
});

test('of several rates, the last one up to the UTC day of purchase applies', async () => {
  const rates = '2025-01-02,CHF,1.5\n2025-01-08,CHF,1.1\n2025-01-09,CHF,7\n';
  await importRates(world.database, await world.file('rates.csv', `date,currency,usd_per_unit\n${rates}`));
  const price = { country: 'CH', currency: 'CHF', value: 10 };
  // The 8th in UTC.
  const at = '2025-01-09T01:30:00+02:00';
  await world.transactions({ ...MONTH, price, purchased_at: at, originally_purchased_at: at });
  expect(await facts()).toMatchObject([{ revenue: 11_000_000_000n }]);
});

test('the commission of the store is deducted; amounts that are recorded stay as they are', async () => {
  const stripe = { ...MONTH, store: 'stripe' };
  await world.transactions(stripe);
  await setStore(world.database, world.app.app_id, { store: 'stripe', commission: '0.15' });
  await world.transactions(stripe, {
    ...stripe,
    store_transaction_id: 'new',
    purchased_at: RENEWAL.purchased_at,
    expires_at: RENEWAL.expires_at,
  });
  expect(await facts()).toMatchObject([{ proceeds: 10_000_000_000n }, { proceeds: 8_500_000_000n }]);
});

test('a recorded amount is not used for another transaction of its chain, even of the same price and day', async () => {
  await importRates(world.database, await world.file('rates.csv', 'date,currency,usd_per_unit\n2025-01-08,NOK,0.1\n'));
  const kroner = { ...MONTH, price: { country: 'NO', currency: 'NOK', value: 10 } };
  await world.transactions(kroner);
  await world.database.db.deleteFrom('currency_rate').where('currency', '=', 'NOK').execute();
  const summary = await world.transactions(kroner, { ...kroner, store_transaction_id: 'other' });
  expect(summary).toMatchObject({ unchanged: 1, rejected: 1 });
});

test("a recorded amount stays even if it would be invalid with today's commission", async () => {
  const taxed = { ...MONTH, store: 'web', price: { ...MONTH.price, tax_usd: 9.5 } };
  const other = { ...taxed, store_transaction_id: 'w2', store_original_transaction_id: 'w2' };
  await world.transactions(taxed);
  await setStore(world.database, world.app.app_id, { store: 'web', commission: '0.2' });
  const dearer = { ...taxed, price: { ...taxed.price, value: 10.1 } };
  const summary = await world.transactions(other, taxed, dearer, { ...taxed, paywall_id: 'p1' });
  expect(summary).toMatchObject({ written: 1, unchanged: 1, rejected: 2 });
  const reason = 'price.tax_usd: Must not be more than the proceeds.';
  expect(await world.rejects('transactions.ndjson')).toMatchObject([
    { line: 1, reason },
    { line: 3, reason },
  ]);
  expect(await facts()).toMatchObject([{ proceeds: 10_000_000_000n }]);
});

test('a recorded amount stays even if its chain comes from a deleted profile', async () => {
  await world.profiles({ customer_user_id: 'gone' });
  const taxed = { ...MONTH, store: 'site', price: { ...MONTH.price, tax_usd: 9.5 } };
  await world.transactions({ ...taxed, customer_user_id: 'gone' });
  await sql`update profile set deleted_at = now() where profile_id = ${await world.profileIdOf('gone')}`.execute(
    world.database.db,
  );
  await setStore(world.database, world.app.app_id, { store: 'site', commission: '0.2' });
  expect(await world.transactions(taxed)).toMatchObject({ written: 1, rejected: 0 });
  expect(await facts()).toMatchObject([{ proceeds: 10_000_000_000n }]);
});

test.each([
  ['one batch', 'near', 0],
  ['two batches', 'far', 1_000],
])('two states of one transaction change nothing when they are imported again: in %s', async (_, store, between) => {
  const bought = { ...MONTH, store };
  const states = [bought, ...Array(between).fill({}), { ...bought, paywall_id: 'p1' }];
  await world.transactions(...states);
  const before = await facts();
  await setStore(world.database, world.app.app_id, { store, commission: '0.5' });
  await world.transactions(...states);
  expect(await facts()).toEqual(before);
  // A refunded transaction keeps the amounts that it had.
  const refund = { refunded_at: '2025-01-20T00:00:00Z', cancellation_reason: 'refund' };
  await world.transactions({ ...bought, ...refund });
  expect(await facts()).toMatchObject([{ proceeds: 10_000_000_000n }]);
  await world.transactions({ ...bought, price: { ...bought.price, tax_usd: 1 } });
  expect(await facts()).toMatchObject([{ proceeds: 5_000_000_000n, net: 4_000_000_000n }]);
});

test('a purchase that moves to another UTC day is priced again', async () => {
  const rates = async (rate: number) =>
    importRates(world.database, await world.file('rates.csv', `date,currency,usd_per_unit\n2025-01-08,NOK,${rate}\n`));
  const price = { country: 'NO', currency: 'NOK', value: 10 };
  const bought = { ...MONTH, price, purchased_at: '2025-01-09T23:59:59Z' };
  await rates(1);
  await world.transactions(bought);
  await rates(2);
  await world.transactions({ ...bought, purchased_at: '2025-01-10T00:30:00+01:00' });
  expect(await facts()).toMatchObject([{ revenue: 10_000_000_000n }]);
  await world.transactions({ ...bought, purchased_at: '2025-01-10T00:30:00Z' });
  expect(await facts()).toMatchObject([{ revenue: 20_000_000_000n }]);
});
