// What an import reports besides its counts: members that no record has, and products that the app does not have.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { COINS } from '../analytics/import.ts';
import { createWorld, toNdjson, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.profiles({ customer_user_id: 'ann' }, { customer_user_id: 'bob' });
});
afterAll(() => world.close());

test('members that no record has are named once, including nested ones, but not free ones', async () => {
  const ann = { customer_user_id: 'ann', country: 'us', attribution: { status: 'non_organic', campaign: 'spring' } };
  const records = [
    { ...ann, Country: 'DE', attribution: { status: 'organic', adgroup: 'a' }, custom_attributes: { Plan: 'gold' } },
    { ...ann, Country: 'FR', attribution: null, __proto: 1 },
    { record: ann, reason: 'corrected', line: 1 },
    { ...ann, reason: 'no reject', line: 1 },
    { ...ann, attribution: 'organic' },
    ['0'],
  ];
  const path = await world.file('misspelt.ndjson', toNdjson(records));
  expect(await world.summaryOf(PROFILES, path)).toMatchObject({
    ...{ read: 6, rejected: 2 },
    unknown_names: ['attribution.adgroup', 'Country', '__proto', 'reason', 'line'],
  });
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x${index}`, 1]));
  const { unknown_names } = await world.summaryOf(PROFILES, await world.file('many.ndjson', toNdjson([many])));
  expect(unknown_names).toEqual(Object.keys(many).slice(0, 100));
});

test('products that the app does not have are named', async () => {
  const of = (store_product_id: string, store: string, id: string) => ({
    ...COINS,
    ...{ customer_user_id: 'ann', store_product_id, store },
    ...{ store_transaction_id: id, store_original_transaction_id: id },
  });
  const known = { app_id: world.app.app_id, store: 'app_store', store_product_id: 'known', duration: 'Monthly' };
  await world.database.db
    .insertInto('product')
    .values({ ...known, access_level_id: null })
    .execute();
  const records = [of('known', 'app_store', 'k1'), of('odd', 'paddle', 'o1'), of('known', 'play_store', 'k2')];
  const path = await world.file('products.ndjson', toNdjson([...records, of('odd', 'paddle', 'o2')]));
  const unconfigured = [
    { store: 'paddle', store_product_id: 'odd' },
    { store: 'play_store', store_product_id: 'known' },
  ];
  expect(await world.summaryOf(TRANSACTIONS, path)).toMatchObject({
    ...{ written: 4, unconfigured_products: unconfigured },
  });
  // Also products of transactions that are stored already.
  const [again] = records;
  await world.transactions(again!);
  expect(await world.summaryOf(TRANSACTIONS, path)).toMatchObject({
    ...{ written: 0, unconfigured_products: unconfigured },
  });
  // Not those of refused records: the chain is ann's.
  const bobs = { ...of('elsewhere', 'app_store', 'k3'), store_original_transaction_id: 'k1', customer_user_id: 'bob' };
  const rest = await world.summaryOf(TRANSACTIONS, await world.file('products.ndjson', toNdjson([again!, bobs])));
  expect(rest).toMatchObject({ rejected: 1 });
  expect(rest).not.toHaveProperty('unconfigured_products');
});

test('of many products that the app does not have, the first hundred are named', async () => {
  const records = Array.from({ length: 101 }, (_, index) => ({
    ...COINS,
    ...{ customer_user_id: 'ann', store_product_id: `unknown ${index}` },
    ...{ store_transaction_id: `u${index}`, store_original_transaction_id: `u${index}` },
  }));
  const { unconfigured_products } = await world.summaryOf(
    TRANSACTIONS,
    await world.file('many-products.ndjson', toNdjson(records)),
  );
  expect(unconfigured_products).toEqual(
    records.slice(0, 100).map(({ store, store_product_id }) => ({ store, store_product_id })),
  );
});
