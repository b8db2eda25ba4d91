// What an operator configures for an app: its settings, products, access levels and stores.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  configureProducts,
  listProducts,
  listStores,
  type NewProduct,
  parseProducts,
  removeProduct,
  setStore,
} from '../../src/apps/catalogue.ts';
import { deleteAccessLevel, deleteProduct, lockGrants, upsertProducts } from '../../src/apps/queries.ts';
import { addAccessLevel, changeApp, getApp, listAccessLevels, removeAccessLevel } from '../../src/apps/service.ts';
import { inTransaction } from '../../src/db/transactions.ts';
import { DURATIONS } from '../../src/facts/codes.ts';
import { type NewGrant, upsertGrants } from '../../src/grants/queries.ts';
import { lockChain } from '../../src/purchases/chain.ts';
import { createWorld, type World } from '../import/world.ts';
import { waitForBlocked } from '../setup/locks.ts';

let world: World;
let appId: string;
beforeAll(async () => {
  world = await createWorld();
  appId = world.app.app_id;
  await addAccessLevel(world.database, appId, 'premium');
});
afterAll(() => world.close());

test('an app keeps its settings if a change is refused', async () => {
  const before = await getApp(world.database, appId);
  const sharing = 'transfer' as const;
  await expect(changeApp(world.database, appId, {})).rejects.toThrow('Nothing to change: give at least one option.');
  for (const name of [' ', 'x'.repeat(256)]) {
    await expect(changeApp(world.database, appId, { name, sharing })).rejects.toThrow(
      'A name must have 1 to 255 characters.',
    );
  }
  await expect(changeApp(world.database, 'none', { sharing })).rejects.toThrow('There is no app none');
  expect(await getApp(world.database, appId)).toEqual(before);
});

const ANNUAL: NewProduct = { store: 'app_store', store_product_id: 'p', duration: 'Annual' };

test.each([
  ['[1]', 'Product 1: Must be a JSON object.'],
  ['{}', 'The file must hold a JSON array of products.'],
  ['[', 'The file is not JSON: Unexpected end of JSON input.'],
  ['[{"store":"a","store_product_id":"p","duration":"Daily"}]', 'Product 1, duration: Must be one of: Uncategorized'],
  ['[{"store":"a","store_product_id":"p","duration":"Annual","level":"x"}]', 'Product 1, level: Unknown field.'],
  ['[{"store":"","store_product_id":"p","duration":"Annual"}]', 'Product 1, store: Must have at least 1 character.'],
])('the file of products %s is refused', async (content, message) => {
  const attempt = async () => configureProducts(world.database, appId, parseProducts(content));
  await expect(attempt()).rejects.toThrow(message);
});

test('an unknown access level or a repeated product keeps all products from being configured', async () => {
  const good = { ...ANNUAL, store_product_id: 'good' };
  await expect(
    configureProducts(world.database, appId, [good, { ...ANNUAL, access_level_id: 'gold' }]),
  ).rejects.toThrow('There is no access level gold; add it first.');
  await expect(configureProducts(world.database, appId, [good, ANNUAL, ANNUAL])).rejects.toThrow(
    'Product 3 is a duplicate: p of app_store.',
  );
  expect(await listProducts(world.database, appId)).toEqual([]);
});

test('a product is replaced as a whole', async () => {
  await configureProducts(world.database, appId, [{ ...ANNUAL, access_level_id: 'premium', is_consumable: true }]);
  await configureProducts(world.database, appId, [{ ...ANNUAL, duration: 'Monthly' }]);
  expect(await listProducts(world.database, appId)).toEqual([
    { ...ANNUAL, duration: 'Monthly', access_level_id: null, is_consumable: false },
  ]);
});

test('more products can be configured than one statement takes', async () => {
  const many = Array.from({ length: 2_500 }, (_, index) => ({ ...ANNUAL, store_product_id: `many-${index}` }));
  await configureProducts(world.database, appId, many);
  expect((await listProducts(world.database, appId)).length).toBeGreaterThanOrEqual(2_500);
});

test('configuring a product, the first time or again, changes what is derived from its transactions', async () => {
  await world.profiles({ customer_user_id: 'ann' });
  await world.transactions({
    customer_user_id: 'ann',
    purchase_type: 'subscription',
    store: 'stripe',
    store_product_id: 'odd',
    store_transaction_id: 't',
    store_original_transaction_id: 't',
    price: { country: 'US', currency: 'USD', value: 24 },
    purchased_at: '2025-01-01T00:00:00Z',
    originally_purchased_at: '2025-01-01T00:00:00Z',
    expires_at: '2025-04-20T00:00:00Z',
    renew_status: true,
  });
  const derived = async () => {
    const fact = await world.database.db
      .selectFrom('fact_transaction')
      .select(['duration', 'monthly_revenue'])
      .executeTakeFirstOrThrow();
    return [DURATIONS[fact.duration], fact.monthly_revenue];
  };
  const configure = (duration: NewProduct['duration']) =>
    configureProducts(world.database, appId, [{ store: 'stripe', store_product_id: 'odd', duration }]);

  expect((await derived())[0]).toBe('Uncategorized');
  await configure('6 months');
  expect(await derived()).toEqual(['6 months', 4_000_000_000n]);
  await configure('Annual');
  expect(await derived()).toEqual(['Annual', 2_000_000_000n]);
});

const bought = (customerUserId: string, product: string) => ({
  customer_user_id: customerUserId,
  purchase_type: 'subscription',
  store: 'play_store',
  store_product_id: product,
  store_transaction_id: `${product} ${customerUserId}`,
  store_original_transaction_id: `${product} ${customerUserId}`,
  price: { country: 'US', currency: 'USD', value: 24 },
  purchased_at: '2025-01-01T00:00:00Z',
  originally_purchased_at: '2025-01-01T00:00:00Z',
  expires_at: '2025-04-20T00:00:00Z',
  renew_status: true,
});

/** Counts the facts of a product by duration. */
async function durationsOf(product: string): Promise<Record<string, number>> {
  const rows = await world.database.db
    .selectFrom('fact_transaction')
    .innerJoin('dim_product', 'dim_product.product_key', 'fact_transaction.product_key')
    .select(({ fn }) => ['duration', fn.countAll<bigint>().as('count')])
    .where('store_product_id', '=', product)
    .groupBy('duration')
    .execute();
  return Object.fromEntries(rows.map(({ duration, count }) => [DURATIONS[duration], Number(count)]));
}

test('a transaction imported while its product is being configured gets the new duration', async () => {
  await world.profiles({ customer_user_id: 'meanwhile' });
  const { db } = world.database;
  await sql`
    create function wait_for_test() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(42); return null; end $$`.execute(db);
  await sql`
    create trigger wait_for_test after insert on fact_transaction
    for each statement execute function wait_for_test()`.execute(db);
  const trx = await db.startTransaction().execute();
  await sql`select pg_advisory_xact_lock(42)`.execute(trx);
  const imported = world.transactions(bought('meanwhile', 'raced'));
  // The facts of the import are derived, but not yet committed. It holds no lock that the configuration writes to.
  await waitForBlocked(world);
  const configured = configureProducts(world.database, appId, [
    { store: 'play_store', store_product_id: 'raced', duration: '6 months' },
  ]);
  await waitForBlocked(world, 2);
  await trx.commit().execute();
  await Promise.all([imported, configured]);
  await sql`drop function wait_for_test cascade`.execute(db);
  expect(await durationsOf('raced')).toEqual({ '6 months': 1 });
});

test('configuring a product waits for the requests that are setting a transaction', async () => {
  const products: NewProduct[] = [{ store: 'play_store', store_product_id: 'awaited', duration: 'Annual' }];
  const known = async () => (await listProducts(world.database, appId)).map((one) => one.store_product_id);
  const trx = await world.database.db.startTransaction().execute();
  const chain = { app_id: appId, store: 'play_store', store_original_transaction_id: 'c' };
  await lockChain(trx, world.app, chain);
  const configured = configureProducts(world.database, appId, products);
  await waitForBlocked(world);
  expect(await known()).not.toContain('awaited');
  await trx.commit().execute();
  await configured;
  expect(await known()).toContain('awaited');
});

test('facts are derived again once their profile is no longer locked', async () => {
  await world.profiles({ customer_user_id: 'held' });
  await world.transactions(bought('held', 'rederived'));
  const trx = await world.database.db.startTransaction().execute();
  await sql`select from profile where customer_user_id = 'held' for no key update`.execute(trx);
  const configured = configureProducts(world.database, appId, [
    { store: 'play_store', store_product_id: 'rederived', duration: '6 months' },
  ]);
  await waitForBlocked(world);
  await trx.commit().execute();
  await configured;
  expect(await durationsOf('rederived')).toEqual({ '6 months': 1 });
});

test('removing a product waits for the requests that are setting a transaction', async () => {
  const product: NewProduct = { store: 'play_store', store_product_id: 'removed', duration: 'Annual' };
  await configureProducts(world.database, appId, [product]);
  const trx = await world.database.db.startTransaction().execute();
  await lockChain(trx, world.app, { app_id: appId, store: 'play_store', store_original_transaction_id: 'c' });
  const removed = removeProduct(world.database, appId, product);
  await waitForBlocked(world);
  await trx.commit().execute();
  expect(await removed).toBe(true);
});

test('configuring a product again derives the facts that an interruption left, however many', async () => {
  const buyers = Array.from({ length: 1_100 }, (_, index) => `buyer-${index}`);
  await world.profiles(...buyers.map((customer_user_id) => ({ customer_user_id })));
  await world.transactions(...buyers.map((buyer) => bought(buyer, 'left')));
  const product = { store: 'play_store', store_product_id: 'left', duration: 'Annual' } as const;
  await upsertProducts(world.database.db, [{ ...product, app_id: appId, is_consumable: false }]);
  expect(await durationsOf('left')).toEqual({ Uncategorized: 1_100 });
  await configureProducts(world.database, appId, [product]);
  expect(await durationsOf('left')).toEqual({ Annual: 1_100 });
});

test('transactions of a removed product count as those of a product that was never configured', async () => {
  const product = { store: 'play_store', store_product_id: "o'neil" };
  await world.profiles({ customer_user_id: 'remover' });
  await world.transactions(bought('remover', product.store_product_id));
  await configureProducts(world.database, appId, [{ ...product, duration: 'Annual' }]);
  expect(await durationsOf(product.store_product_id)).toEqual({ Annual: 1 });
  const version = () => world.database.db.selectFrom('fact_version').selectAll().execute();
  const before = await version();

  await removeProduct(world.database, appId, product);
  expect(await listProducts(world.database, appId)).not.toContainEqual(expect.objectContaining(product));
  expect(await durationsOf(product.store_product_id)).toEqual({ Uncategorized: 1 });
  expect(await version()).not.toEqual(before);
});

test('removing a product again derives the facts that an interruption left', async () => {
  const product = { store: 'play_store', store_product_id: 'halfway' };
  await world.profiles({ customer_user_id: 'halfway' });
  await world.transactions(bought('halfway', 'halfway'));
  await configureProducts(world.database, appId, [{ ...product, duration: 'Annual' }]);
  await deleteProduct(world.database.db, { ...product, app_id: appId });
  await removeProduct(world.database, appId, product);
  expect(await durationsOf('halfway')).toEqual({ Uncategorized: 1 });
});

test('a product that nobody bought can be removed; the same id in another store stays, and an unknown product is an error', async () => {
  const product = { store: 'play_store', store_product_id: 'typo' };
  const other = { ...product, store: 'app_store' };
  await configureProducts(world.database, appId, [
    { ...product, duration: 'Annual' },
    { ...other, duration: 'Annual' },
  ]);
  await removeProduct(world.database, appId, product);
  const known = await listProducts(world.database, appId);
  expect(known.filter((one) => one.store_product_id === 'typo')).toMatchObject([other]);
  await expect(removeProduct(world.database, appId, product)).rejects.toThrow(
    'There is no product typo of play_store; see `sps product list`.',
  );
});

test('an empty access level is none', async () => {
  await configureProducts(world.database, appId, [{ ...ANNUAL, store_product_id: 'opens none', access_level_id: '' }]);
  expect(await listProducts(world.database, appId)).toContainEqual({
    ...ANNUAL,
    store_product_id: 'opens none',
    access_level_id: null,
    is_consumable: false,
  });
});

/** Returns a grant of the level to a new profile. */
async function grantOf(access_level_id: string): Promise<NewGrant> {
  await world.profiles({ customer_user_id: access_level_id });
  const { profile_id } = await world.database.db
    .selectFrom('profile')
    .select('profile_id')
    .where('customer_user_id', '=', access_level_id)
    .executeTakeFirstOrThrow();
  return { app_id: appId, profile_id, access_level_id, starts_at: null, expires_at: null };
}

test('an access level can be removed while nothing names it', async () => {
  const levels = async () => (await listAccessLevels(world.database, appId)).map((one) => one.access_level_id);
  await addAccessLevel(world.database, appId, 'pemium');
  const product = {
    store: 'stripe',
    store_product_id: 'opens',
    duration: 'Annual',
    access_level_id: 'pemium',
  } as const;
  await configureProducts(world.database, appId, [product]);
  const remove = () => removeAccessLevel(world.database, appId, 'pemium');
  await expect(remove()).rejects.toThrow('pemium cannot be removed: products open it');
  await removeProduct(world.database, appId, product);

  const trx = await world.database.db.startTransaction().execute();
  expect(await upsertGrants(trx, [await grantOf('pemium')])).toEqual([true]);
  const removed = remove().catch((error: Error) => error.message);
  // The grant is not committed yet.
  await waitForBlocked(world);
  await trx.commit().execute();
  expect(await removed).toBe('pemium cannot be removed: it was granted to profiles.');
  expect(await levels()).toContain('pemium');

  await world.database.db.deleteFrom('access_grant').execute();
  await remove();
  expect(await levels()).not.toContain('pemium');
  await expect(remove()).rejects.toThrow('There is no access level pemium');
});

test('a grant that waits for the removal of its level is refused; it does not fail', async () => {
  await addAccessLevel(world.database, appId, 'gone');
  const grant = await grantOf('gone');
  const trx = await world.database.db.startTransaction().execute();
  await lockGrants(trx);
  const granted = inTransaction(world.database.db, (own) => upsertGrants(own, [grant]));
  await waitForBlocked(world);
  await deleteAccessLevel(trx, grant);
  await trx.commit().execute();
  expect(await granted).toEqual([false]);
});

test.each([
  [{ store: 'stripe', commission: '1.5' }, 'A commission must be a fraction from 0 to 1'],
  [{ store: 'stripe', commission: '2' }, 'A commission must be a fraction from 0 to 1'],
  [{ store: 'stripe', commission: '0.1234567890' }, 'A commission must be a fraction from 0 to 1'],
  [{ store: 'stripe', commission: '15%' }, 'A commission must be a fraction from 0 to 1'],
  [{ store: 'stripe' }, 'Give a commission, a title or both.'],
  [{ store: 'stripe', title: ' ' }, 'A title must have 1 to 100 characters.'],
  [{ store: '', title: 'x' }, 'A store id must have 1 to 50 characters.'],
  [{ store: '🛒'.repeat(51), title: 'x' }, 'A store id must have 1 to 50 characters.'],
  [{ store: 'stripe', title: '🛒'.repeat(101) }, 'A title must have 1 to 100 characters.'],
])('the store setting %j is refused', async (input, message) => {
  await expect(setStore(world.database, appId, input)).rejects.toThrow(message);
});

test.each(['0', '1', '1.000000000', '0.123456789'])('the commission %s is kept as it was given', async (commission) => {
  await setStore(world.database, appId, { store: 'fair', commission });
  expect(await listStores(world.database, appId)).toContainEqual({ store: 'fair', commission, title: null });
});

test('the characters of a store and its title are code points', async () => {
  const [store, title] = ['🛒'.repeat(50), '🛒'.repeat(100)];
  await setStore(world.database, appId, { store, title });
  const setting = await world.database.db
    .selectFrom('store_setting')
    .select(['store', 'title'])
    .where('store', '=', store)
    .executeTakeFirst();
  expect(setting).toEqual({ store, title });
});
