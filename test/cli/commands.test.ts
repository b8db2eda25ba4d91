// The commands of the sps program, run as an operator runs them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ServiceResponse, startService, type TestService } from '../setup/service.ts';
import { answering, type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { createSps, PATIENCE, type Sps } from './sps.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Keeps running on the same database. */
let service: TestService;
let receiver: Receiver;
let folder: string;
let sps: Sps;
let app: string;
beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
  folder = await mkdtemp(join(tmpdir(), 'sps-cli-'));
  sps = createSps({ DATABASE_URL: service.database.url, WEBHOOK_ALLOW_PRIVATE: 'true' });
  app = (await sps.json('app', 'create', '--name', 'Shop')).app_id;
});
afterAll(async () => {
  sps.close();
  await receiver.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

async function write(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

function attribute(key: string): Promise<ServiceResponse> {
  return service.call('POST', '/api/v2/web-api/attribution/', {
    key,
    body: { status: 'organic', customer_user_id: 'nobody' },
  });
}

describe('app', PATIENCE, () => {
  test('create prints the app and its two keys; the running service takes them', async () => {
    const created = await sps.json(
      ...['app', 'create', '--name', 'Zoo', '--timezone', 'Asia/Tokyo', '--profile-shape', 'array'],
      ...['--attribution', 'first', '--sharing', 'transfer'],
    );
    expect(created).toEqual({
      app_id: expect.stringMatching(UUID),
      public_key: expect.stringMatching(/^public_live_\w{8}\.\w{32}$/),
      secret_key: expect.stringMatching(/^secret_live_\w{8}\.\w{32}$/),
    });
    expect(await attribute(created.public_key)).toMatchObject({ status: 404 });
    expect(await attribute(created.secret_key)).toMatchObject({ status: 401 });
    const { apps } = await sps.json('app', 'list');
    expect(apps.find((one: { name: string }) => one.name === 'Zoo')).toMatchObject({
      app_id: created.app_id,
      timezone: 'Asia/Tokyo',
      profile_shape: 'array',
      attribution_policy: 'first',
      sharing: 'transfer',
    });
  });

  test('change sets what is given; the running service follows it within two seconds', async () => {
    const { app_id, secret_key: key } = await sps.json('app', 'create', '--name', 'Zoo', '--sharing', 'transfer');
    const headers = { 'service-customer-user-id': 'ann' };
    const profile = async () =>
      (await service.call('POST', '/api/v2/server-side-api/profile/', { key, headers, body: {} })).json.data;
    expect(await profile()).toMatchObject({ access_levels: null });
    expect(await sps.json('app', 'change', app_id, '--profile-shape', 'array', '--attribution', 'first')).toEqual({
      app_id,
      name: 'Zoo',
      profile_shape: 'array',
      attribution_policy: 'first',
      sharing: 'transfer',
    });
    await vi.waitFor(async () => expect(await profile()).toMatchObject({ access_levels: [] }), { timeout: 2_000 });
    const { apps } = await sps.json('app', 'list');
    expect(apps.filter((one: { profile_shape: string }) => one.profile_shape === 'array')).toContainEqual(
      expect.objectContaining({ app_id }),
    );
    expect(await sps.json('app', 'change', app_id, '--name', 'Ark', '--sharing', 'refuse')).toMatchObject({
      name: 'Ark',
    });
    expect(await sps.attempt('app', 'change', app_id)).toMatchObject({
      code: 1,
      stderr: 'sps: Nothing to change: give at least one option.\n',
    });
  });

  test('for people, app prints lines', async () => {
    const { stdout } = await sps.attempt('app', 'create', '--name', 'Plain');
    expect(stdout).toMatch(/^app_id +[0-9a-f-]{36}\npublic_key +public_live_\S+\nsecret_key +secret_live_\S+\n$/);
    expect((await sps.attempt('app', 'list')).stdout).toMatch(/^app_id +name +timezone/);
  });
});

test('a new key works, and a revoked one is refused within two seconds', PATIENCE, async () => {
  const issued = await sps.json('key', 'create', '--app', app, '--kind', 'public');
  expect(issued).toEqual({ key_id: expect.stringMatching(UUID), key: expect.stringMatching(/^public_live_/) });
  expect(await attribute(issued.key)).toMatchObject({ status: 404 });
  const revoked = await sps.json('key', 'revoke', issued.key_id);
  expect(revoked).toEqual({ key_id: issued.key_id, revoked_at: expect.any(String) });
  const end = performance.now() + 2_000;
  const isLetIn = async () => (await attribute(issued.key)).status !== 401;
  while (performance.now() < end && (await isLetIn())) await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await attribute(issued.key)).toMatchObject({ status: 401 });

  await sps.json('key', 'create', '--app', app, '--kind', 'secret', '--scope', 'analytics');
  const { keys } = await sps.json('key', 'list', '--app', app);
  expect(keys).toHaveLength(4);
  expect(keys[2]).toMatchObject({ key_id: issued.key_id, kind: 'public', revoked_at: revoked.revoked_at });
  expect(keys[3]).toMatchObject({ kind: 'secret', scope: 'analytics', revoked_at: null });
  expect(JSON.stringify(keys)).not.toContain(issued.key.split('.')[1]);
});

test('access levels and products are added, imported, replaced, listed and removed', PATIENCE, async () => {
  expect(await sps.json('access-level', 'add', 'premium', '--app', app)).toEqual({ access_level_id: 'premium' });
  await sps.json('access-level', 'add', 'premium', '--app', app);
  const { access_levels } = await sps.json('access-level', 'list', '--app', app);
  expect(access_levels).toEqual([{ access_level_id: 'premium', created_at: expect.any(String) }]);

  const coins = ['--store', 'app_store', '--product', 'coins', '--duration', 'Lifetime', '--consumable'];
  const product = await sps.json('product', 'add', '--app', app, ...coins);
  expect(product).toMatchObject({ store_product_id: 'coins', access_level_id: null, is_consumable: true });
  const file = await write(
    'products.json',
    JSON.stringify([
      { store: 'app_store', store_product_id: 'coins', duration: 'Lifetime' },
      { store: 'stripe', store_product_id: 'half', duration: '6 months', access_level_id: 'premium' },
    ]),
  );
  expect(await sps.json('product', 'import', file, '--app', app)).toEqual({ written: 2 });
  const { products } = await sps.json('product', 'list', '--app', app);
  expect(products).toEqual([
    {
      store: 'app_store',
      store_product_id: 'coins',
      duration: 'Lifetime',
      access_level_id: null,
      is_consumable: false,
    },
    {
      store: 'stripe',
      store_product_id: 'half',
      duration: '6 months',
      access_level_id: 'premium',
      is_consumable: false,
    },
  ]);

  const half = ['--store', 'stripe', '--product', 'half'];
  expect(await sps.attempt('access-level', 'remove', 'premium', '--app', app)).toMatchObject({ code: 1 });
  expect(await sps.json('product', 'remove', '--app', app, ...half)).toEqual({
    store: 'stripe',
    store_product_id: 'half',
    was_configured: true,
  });
  expect((await sps.json('product', 'list', '--app', app)).products).toHaveLength(1);
  expect(await sps.json('access-level', 'remove', 'premium', '--app', app)).toEqual({ access_level_id: 'premium' });
  expect((await sps.json('access-level', 'list', '--app', app)).access_levels).toEqual([]);
});

test('the settings of stores are set and listed, and rates are imported', PATIENCE, async () => {
  await sps.json('store', 'set', '--app', app, '--store', 'stripe', '--commission', '0.15');
  expect(await sps.json('store', 'set', '--app', app, '--store', 'stripe', '--title', 'Web')).toEqual({
    store: 'stripe',
    title: 'Web',
  });
  await sps.json('store', 'set', '--app', app, '--store', 'app_store', '--title', 'iOS');
  expect(await sps.json('store', 'list', '--app', app)).toEqual({
    stores: [
      { store: 'app_store', commission: null, title: 'iOS' },
      { store: 'stripe', commission: '0.15', title: 'Web' },
    ],
  });
  const rates = await write(
    'rates.csv',
    'date,currency,usd_per_unit\n2025-01-02,EUR,1.2\n2025-01-01,EUR,1.1\n2025-01-01,JPY,0.0064\n',
  );
  expect(await sps.json('rate', 'import', rates)).toEqual({ read: 3 });
  expect(await sps.json('rate', 'list')).toEqual({
    currencies: [
      { currency: 'EUR', first_date: '2025-01-01', last_date: '2025-01-02', rates: 2, last_usd_per_unit: '1.2' },
      { currency: 'JPY', first_date: '2025-01-01', last_date: '2025-01-01', rates: 1, last_usd_per_unit: '0.0064' },
    ],
  });
});

test('migrate says what it applied, here nothing', PATIENCE, async () => {
  expect(await sps.json('migrate')).toEqual({ applied: [] });
});

describe('webhook', PATIENCE, () => {
  test('is added, listed, changed, disabled, enabled, rotated, tested and removed', async () => {
    const url = `${receiver.url}/hook`;
    const { webhook_id, secret } = await sps.json(
      ...['webhook', 'add', '--app', app, '--url', url, '--authorization', 'Bearer x'],
      ...['--events', 'access_level_updated'],
    );
    expect(secret).toMatch(/^whsec_/);
    expect(receiver.received).toHaveLength(1);
    expect(await sps.json('webhook', 'disable', webhook_id)).toMatchObject({ webhook_id, state: 'disabled' });
    const { webhooks } = await sps.json('webhook', 'list', '--app', app);
    expect(webhooks).toMatchObject([{ webhook_id, url, state: 'disabled', event_types: ['access_level_updated'] }]);
    expect(
      await sps.json('webhook', 'change', webhook_id, '--url', `${url}/2`, '--events', 'all', '--no-authorization'),
    ).toEqual({ webhook_id, app_id: app, url: `${url}/2`, event_types: null, state: 'disabled' });
    expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer x', undefined]);
    await sps.json('webhook', 'change', webhook_id, '--events', 'trial_started, trial_expired', '--no-verify');
    const [changed] = (await sps.json('webhook', 'list')).webhooks;
    expect(changed).toMatchObject({ url: `${url}/2`, event_types: ['trial_started', 'trial_expired'] });
    expect(await sps.json('webhook', 'enable', webhook_id)).toMatchObject({ state: 'enabled' });
    expect((await sps.json('webhook', 'rotate', webhook_id)).secret).not.toBe(secret);
    expect(await sps.json('webhook', 'test', webhook_id)).toMatchObject({ status: 200 });
    expect(await sps.json('webhook', 'deliveries', webhook_id, '--state', 'dead')).toEqual({ deliveries: [] });
    expect(await sps.json('webhook', 'replay', webhook_id, '--since', '2025-01-01T00:00:00Z')).toEqual({ replayed: 0 });
    const both = ['webhook', 'replay', webhook_id, '--delivery', `1-${webhook_id}`];
    expect(await sps.attempt(...both)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('or --delivery alone'),
    });
    await sps.json('webhook', 'remove', webhook_id);
    expect(await sps.json('webhook', 'list')).toEqual({ webhooks: [] });
  });

  test('lists its newest deliveries, no more than requested', async () => {
    const { appId, secretKey } = service;
    const { webhook_id } = await sps.json('webhook', 'add', '--app', appId, '--url', receiver.url);
    await sps.json('access-level', 'add', 'premium', '--app', appId);
    const headers = { 'service-customer-user-id': 'ann' };
    await service.call('POST', '/api/v2/server-side-api/profile/', { key: secretKey, headers, body: {} });
    for (const starts_at of ['2025-01-01T00:00:01Z', '2025-01-01T00:00:02Z']) {
      const body = { access_level_id: 'premium', starts_at };
      const path = '/api/v2/server-side-api/purchase/profile/grant/access-level/';
      expect(await service.call('POST', path, { key: secretKey, headers, body })).toMatchObject({ status: 200 });
    }
    const { deliveries } = await sps.json('webhook', 'deliveries', webhook_id);
    expect(deliveries).toHaveLength(2);
    expect((await sps.json('webhook', 'deliveries', webhook_id, '--limit', '1')).deliveries).toEqual([deliveries[0]]);
    await sps.json('webhook', 'remove', webhook_id);
  });

  test('takes its Authorization header from a file, so that others do not see it among the arguments', async () => {
    receiver.received.length = 0;
    const file = await write('authorization', '\uFEFFBearer from-a-file\r\n');
    const add = ['webhook', 'add', '--app', app, '--url', receiver.url, '--authorization-file'];
    const { webhook_id } = await sps.json(...add, file);
    expect(receiver.received[0]?.headers.authorization).toBe('Bearer from-a-file');
    await sps.json('webhook', 'remove', webhook_id);
    expect(await sps.attempt(...add, '/nowhere')).toMatchObject({
      code: 1,
      stderr: 'sps: Cannot read /nowhere: there is no such file.\n',
    });
    expect(await sps.attempt(...add, file, '--authorization', 'x')).toMatchObject({ code: 1 });
  });

  test('is not added if its test event fails, unless none is requested', async () => {
    // Escape sequences are not passed on to the terminal.
    receiver.behave(answering(500, 'no\u001b[2J'));
    const add = ['webhook', 'add', '--app', app, '--url', receiver.url];
    expect(await sps.attempt(...add)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the receiver answered 500 (no\uFFFD[2J)'),
    });
    expect(await sps.json(...add, '--no-verify')).toMatchObject({ webhook_id: expect.stringMatching(UUID) });
  });
});
