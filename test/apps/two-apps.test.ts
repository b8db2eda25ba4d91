// Two apps whose profiles have the same ids and names, as a test app and the real one have after the same import: a
// change in one leaves the other as it is.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configureProducts, listProducts, removeProduct, setStore } from '../../src/apps/catalogue.ts';
import { createApp, listAccessLevels, removeAccessLevel } from '../../src/apps/service.ts';
import { importFile } from '../../src/import/import-file.ts';
import type { Kind } from '../../src/import/kind.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { exportProfile } from '../../src/profile/export.ts';
import type { ProfileIdentity } from '../../src/profile/identity.ts';
import { askChart } from '../analytics/import.ts';
import { post } from '../attribution/world.ts';
import { grant, revoke } from '../grants/world.ts';
import { NOW, toNdjson } from '../import/world.ts';
import { createProfile, deleteProfile, readProfile, updateProfile } from '../profile/world.ts';
import { addEndpoint, chartTotal, oneTime, period, setTransaction } from '../purchases/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';

let one: TestService;
let other: TestService;
let folder: string;
beforeAll(async () => {
  one = await startService();
  const made = await createApp(one.deps, { name: 'Other' });
  const keys = { publicKey: made.public_key, secretKey: made.secret_key };
  other = { ...one, app: made.app, appId: made.app.app_id, ...keys };
  folder = await mkdtemp(join(tmpdir(), 'sps-two-apps-'));
  for (const app of [one, other]) {
    await addAccessLevel(app, 'premium');
    await addProduct(app, 'monthly', { access_level_id: 'premium' });
    await addEndpoint(app);
  }
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await one.close();
});

async function importInto<T>(app: TestService, kind: Kind<T>, record: object): Promise<void> {
  const file = join(folder, 'records.ndjson');
  await writeFile(file, toNdjson([record]));
  await importFile(kind, { connectionString: one.database.url, app: app.app, file, now: () => NOW });
}

/** Creates a profile with the same name and id in both apps. */
async function makeTwins(customer: string): Promise<string> {
  const { profile_id } = (await createProfile(one, { customer }, { country: 'US' })).json.data;
  await importInto(other, PROFILES, { profile_id, customer_user_id: customer, country: 'US' });
  return profile_id;
}

const headersOf = (customer: string) => ({ 'service-customer-user-id': customer });
const usd = (value: number) => ({ country: 'US', currency: 'USD', value });
const premium = { access_level_id: 'premium' };
const dataOf = async (app: TestService, customer: string) => (await readProfile(app, { customer })).json.data;

test('each of two apps with the same ids and names finds its own profile by name and by id', async () => {
  const profile = await makeTwins('anna');
  for (const app of [one, other]) {
    for (const named of [{ customer: 'anna' }, { profile }, { customer: 'anna', profile }]) {
      expect((await readProfile(app, named)).json.data).toMatchObject({ app_id: app.appId, profile_id: profile });
    }
    expect((await grant(app, premium, headersOf('anna'))).json.data.app_id).toBe(app.appId);
    expect((await post(app, { customer_user_id: 'anna', status: 'organic' })).status).toBe(201);
  }
});

test('a name is one profile in each of two apps, also in files', async () => {
  const body = period({ store_transaction_id: 'j', store_original_transaction_id: 'j' });
  for (const app of [one, other]) await createProfile(app, { customer: 'jana' });
  for (const app of [one, other]) {
    await importInto(app, TRANSACTIONS, { customer_user_id: 'jana', ...body });
    await importInto(app, PROFILES, { customer_user_id: 'jana', custom_attributes: { app: app.appId.slice(0, 8) } });
    expect(await dataOf(app, 'jana')).toMatchObject({
      total_revenue_usd: 10,
      custom_attributes: { app: app.appId.slice(0, 8) },
    });
  }
});

test('changing a profile, its grant, its attribution and its transactions leaves those of the other app alone', async () => {
  await makeTwins('bert');
  const ids = { store_transaction_id: 'b', store_original_transaction_id: 'b', expires_at: '2098-01-01T00:00:00Z' };
  for (const app of [one, other]) {
    await grant(app, premium, headersOf('bert'));
    expect((await setTransaction(app, 'bert', period(ids))).status).toBe(200);
    expect((await dataOf(app, 'bert')).total_revenue_usd).toBe(10);
  }
  const { timestamp: _, ...before } = await dataOf(other, 'bert');
  await updateProfile(one, { customer: 'bert' }, { country: 'DE', custom_attributes: { plan: 'gold' } });
  await importInto(one, PROFILES, { customer_user_id: 'bert', store: 'stripe', custom_attributes: { x: 1 } });
  await importInto(one, TRANSACTIONS, { customer_user_id: 'bert', ...period({ ...ids, renew_status: false }) });
  await revoke(one, premium, headersOf('bert'));
  await setTransaction(one, 'bert', period({ ...ids, price: { country: 'US', currency: 'USD', value: 20 } }));
  await post(one, { customer_user_id: 'bert', status: 'non_organic', channel: 'social' });
  expect(await dataOf(one, 'bert')).toMatchObject({ total_revenue_usd: 20 });
  const { timestamp: __, ...after } = await dataOf(other, 'bert');
  expect(after).toEqual(before);
  const { rows } = await sql`select country, store from profile
    where app_id = ${other.appId} and customer_user_id = 'bert'`.execute(one.database.db);
  expect(rows).toEqual([{ country: 'US', store: null }]);
});

test('a grant that only the other app has cannot be revoked', async () => {
  await makeTwins('gina');
  await grant(other, premium, headersOf('gina'));
  const refused = { status: 400, json: { error_code: 'profile_paid_access_level_does_not_exist' } };
  expect(await revoke(one, premium, headersOf('gina'))).toMatchObject(refused);
  expect((await dataOf(one, 'gina')).access_levels).toBeNull();
});

test('the same Idempotency-Key can be used in two apps', async () => {
  await makeTwins('cleo');
  const headers = { ...headersOf('cleo'), 'idempotency-key': 'k' };
  for (const app of [one, other]) {
    expect((await grant(app, premium, headers)).json.data.app_id).toBe(app.appId);
  }
});

test('a name that a profile gives up in one app stays with the profile of the other', async () => {
  const profile = await makeTwins('dora');
  await createProfile(one, { profile, customer: 'dorothy' });
  expect((await dataOf(other, 'dora')).profile_id).toBe(profile);
  await importInto(one, PROFILES, { profile_id: profile, customer_user_id: 'dot' });
  await importInto(other, PROFILES, { profile_id: profile, customer_user_id: 'dot' });
  await importInto(one, PROFILES, { profile_id: profile, customer_user_id: 'dorothea' });
  expect((await dataOf(other, 'dot')).profile_id).toBe(profile);
});

test('a name may belong to a profile in one app, and to another profile in the other', async () => {
  const profile = await makeTwins('gerd');
  await createProfile(other, { profile, customer: 'frida' });
  await createProfile(one, { customer: 'frida' });
  expect((await createProfile(one, { profile, customer: 'frida' })).status).toBe(400);
  expect((await dataOf(one, 'gerd')).profile_id).toBe(profile);
});

test('deleting a profile leaves the profile of the other app alone', async () => {
  const profile = await makeTwins('emil');
  const ids = { store_transaction_id: 'e', store_original_transaction_id: 'e' };
  for (const app of [one, other]) {
    await updateProfile(app, { customer: 'emil' }, { custom_attributes: { plan: 'gold' } });
    await post(app, { customer_user_id: 'emil', status: 'organic' });
    await grant(app, premium, headersOf('emil'));
    await setTransaction(app, 'emil', period(ids));
  }
  const { timestamp: _, ...before } = await dataOf(other, 'emil');
  const eventsOf = async () => {
    const { rows } = await sql`select event_id, customer_user_id, payload from webhook_event
      where app_id = ${other.appId} and profile_id = ${profile} order by sequence`.execute(one.database.db);
    return rows;
  };
  const reported = await eventsOf();
  expect(reported.length).toBeGreaterThan(1);
  expect((await deleteProfile(one, { customer: 'emil' })).status).toBe(204);
  const { timestamp: __, ...after } = await dataOf(other, 'emil');
  expect(after).toEqual(before);
  expect(await eventsOf()).toEqual(reported);
  const attributed = await sql`select from profile_attribution
    where app_id = ${other.appId} and profile_id = ${profile}`.execute(one.database.db);
  expect(attributed.rows).toHaveLength(1);
});

test('an export shows the profile of its own app alone, by name and by id', async () => {
  const profile_id = await makeTwins('ines');
  await grant(other, premium, headersOf('ines'));
  await createProfile(other, { customer: 'only there' });
  async function exportFrom({ appId }: TestService, named: Partial<ProfileIdentity>) {
    const lists: Record<string, object[]> = {};
    const identity = { app_id: appId, customer_user_id: null, profile_id: null, ...named };
    await exportProfile(one.database.db, identity, async (name, value) => {
      lists[name] = [];
      if (Symbol.asyncIterator in value) for await (const rows of value) lists[name].push(...rows);
      else lists[name].push(value);
    });
    return lists;
  }
  for (const named of [{ customer_user_id: 'ines' }, { profile_id }]) {
    expect(await exportFrom(one, named)).toMatchObject({ profile: [{ profile_id }], access_grants: [], events: [] });
    expect(await exportFrom(other, named)).toMatchObject({ access_grants: [premium], events: [expect.anything()] });
  }
  await expect(exportFrom(one, { customer_user_id: 'only there' })).rejects.toThrow('The app has no such profile.');
});

test('products and access levels belong to one app', async () => {
  const product = { store: 'app_store', store_product_id: 'weekly', duration: 'Weekly' as const };
  const gold = { ...product, access_level_id: 'gold' };
  await makeTwins('hans');
  await addAccessLevel(other, 'gold');
  await expect(configureProducts(one.deps, one.appId, [gold])).rejects.toThrow('There is no access level gold');
  for (const change of [grant, revoke]) {
    expect(await change(one, { access_level_id: 'gold' }, headersOf('hans'))).toMatchObject({
      status: 400,
      json: { error_code: 'paid_access_level_does_not_exist' },
    });
  }
  await addAccessLevel(one, 'gold');
  await configureProducts(one.deps, one.appId, [product]);
  await configureProducts(one.deps, other.appId, [gold]);
  await grant(other, { access_level_id: 'gold' }, headersOf('hans'));
  await removeProduct(one.deps, one.appId, product);
  await removeAccessLevel(one.deps, one.appId, 'gold');
  const products = await listProducts(one.deps, other.appId);
  expect(products).toContainEqual(expect.objectContaining({ store_product_id: 'weekly', access_level_id: 'gold' }));
  expect((await listAccessLevels(one.deps, other.appId)).map((level) => level.access_level_id)).toContain('gold');
});

test('each app has its own title and commission for a store', async () => {
  await makeTwins('ines');
  await setStore(one.deps, one.appId, { store: 'acme', title: 'Ones', commission: '0.1' });
  await setStore(one.deps, other.appId, { store: 'acme', title: 'Others', commission: '0.2' });
  for (const [app, title, proceeds] of [
    [one, 'Ones', 9],
    [other, 'Others', 8],
  ] as const) {
    const ids = { store_transaction_id: 'i', store_original_transaction_id: 'i', store: 'acme' };
    await setTransaction(app, 'ines', period(ids));
    const filters = { date: ['2025-02-01', '2025-02-28'], store: ['acme'] };
    const { json } = await askChart(app, { segmentation: 'store', filters });
    expect(json.data.proceeds.data[1]).toMatchObject({ type: 'acme', title, value: proceeds });
  }
});

test('events and charts are about their own app alone', async () => {
  await makeTwins('fred');
  const ids = { store_transaction_id: 'f', store_original_transaction_id: 'f', purchased_at: '2024-02-01T00:00:00Z' };
  const chain = { ...ids, originally_purchased_at: '2024-02-01T00:00:00Z', expires_at: '2024-03-01T00:00:00Z' };
  await setTransaction(one, 'fred', period(chain));
  expect([await chartTotal(one, 'revenue', 2024), await chartTotal(other, 'revenue', 2024)]).toEqual([10, 0]);
  for (const [app, reported] of [
    [one, ['access_level_updated', 'subscription_started']],
    [other, []],
  ] as const) {
    const feed = await app.call('GET', '/api/v1/client-api/events/?customer_user_id=fred', { key: app.secretKey });
    expect(feed.json.data.map((event: { event_type: string }) => event.event_type)).toEqual(reported);
  }
});

test('a kept answer is not returned to the other app', async () => {
  const { db } = one.database;
  await makeTwins('lena');
  for (const [app, value] of [
    [one, 1],
    [other, 2],
  ] as const) {
    const ids = { store_transaction_id: 'l', store_original_transaction_id: 'l' };
    await setTransaction(app, 'lena', oneTime({ ...ids, purchased_at: '2022-01-01T00:00:00Z', price: usd(value) }));
  }
  // Versions are counters, so two apps may be at the same one.
  await sql`delete from fact_version`.execute(db);
  expect([await chartTotal(one, 'revenue', 2022), await chartTotal(other, 'revenue', 2022)]).toEqual([1, 2]);
});
