// The commands of the sps program, as they are run by an operator.
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Answer, type CallOptions, startService, type TestService } from '../setup/service.ts';
import { answering, type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { createSps, ended, PATIENCE, type Sps } from './sps.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A service runs on the database all the while. */
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

function attribute(key: string): Promise<Answer> {
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

  test('change sets what is given; the running service goes by it within two seconds', async () => {
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
      stderr: 'sps: Say what is to change.\n',
    });
  });

  test('for people it prints lines', async () => {
    const { stdout } = await sps.attempt('app', 'create', '--name', 'Plain');
    expect(stdout).toMatch(/^app_id +[0-9a-f-]{36}\npublic_key +public_live_\S+\nsecret_key +secret_live_\S+\n$/);
    expect((await sps.attempt('app', 'list')).stdout).toMatch(/^app_id +name +timezone/);
  });
});

test('key: a new one works, a revoked one is refused within two seconds', PATIENCE, async () => {
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

test('access-level and product: added, imported, replaced, listed, removed', PATIENCE, async () => {
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

describe('profile export', PATIENCE, () => {
  const call = async (method: string, path: string, key: string, options: CallOptions) => {
    const answer = await service.call(method, path, { key, ...options });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.json;
  };
  const [API, CUSTOMER] = ['/api/v2/server-side-api/', { 'service-customer-user-id': 'ann' }];

  test('prints all that is stored of a person, and after a deletion what stays', async () => {
    const { app_id, public_key, secret_key } = await sps.json('app', 'create', '--name', 'Known');
    await sps.json('access-level', 'add', 'premium', '--app', app_id);
    const receiving = ['--url', receiver.url, '--no-verify'];
    const { webhook_id } = await sps.json('webhook', 'add', '--app', app_id, ...receiving);
    await call('POST', `${API}profile/`, secret_key, { headers: CUSTOMER, body: { country: 'FR' } });
    for (const campaign of ['first', 'second']) {
      const body = { status: 'non_organic', campaign, attribution_user_id: `id-${campaign}`, customer_user_id: 'ann' };
      await call('POST', '/api/v2/web-api/attribution/', public_key, { body });
    }
    const coins = {
      ...{ purchase_type: 'one_time_purchase', store: 'stripe', store_product_id: 'coins' },
      ...{ store_transaction_id: 't1', store_original_transaction_id: 't1', purchased_at: '2025-02-03T00:00:00Z' },
      price: { country: 'US', currency: 'USD', value: 4.99 },
      variation_id: 'v1',
    };
    await call('POST', `${API}purchase/set/transaction/`, secret_key, { headers: CUSTOMER, body: coins });
    const grant = { access_level_id: 'premium', expires_at: null };
    const once = { ...CUSTOMER, 'idempotency-key': 'once' };
    await call('POST', `${API}purchase/profile/grant/access-level/`, secret_key, { headers: once, body: grant });
    const named = ['--customer-user-id', 'ann'];
    const exported = await sps.json('profile', 'export', '--app', app_id, ...named);
    expect(exported).toMatchObject({
      profile: { customer_user_id: 'ann', country: 'FR', custom_attributes: {}, deleted_at: null },
      attributions: [
        { status: 'non_organic', campaign: 'second', attribution_user_id: 'id-second' },
        { status: 'non_organic', campaign: 'first', attribution_user_id: 'id-first' },
      ],
      access_grants: [{ access_level_id: 'premium', expires_at: null }],
      transactions: [{ store_transaction_id: 't1', price_value: 4.99, price_country: 'US', variation_id: 'v1' }],
      events: [
        { payload: { customer_user_id: 'ann' }, deliveries: [{ attempts: expect.any(Number) }] },
        { event_type: 'access_level_updated' },
      ],
      kept_answers: [{ operation: 'grant', idempotency_key: 'once' }],
    });
    expect(Object.keys(exported.transactions[0])).not.toContain('revenue_nano');

    await call('DELETE', `${API}profile/`, secret_key, { headers: CUSTOMER });
    expect((await sps.attempt('profile', 'export', '--app', app_id, ...named)).stderr).toBe(
      'sps: The app has no such profile.\n',
    );
    const { profile_id } = exported.profile;
    const left = await sps.attempt('profile', 'export', '--app', app_id, '--profile-id', profile_id);
    expect(JSON.parse(left.stdout)).toMatchObject({
      profile: { profile_id, customer_user_id: null, country: 'FR', deleted_at: expect.any(String) },
      ...{ attributions: [], access_grants: [], transactions: [{ store_transaction_id: 't1' }], kept_answers: [] },
    });
    expect(left.stdout).not.toMatch(/ann|id-first|id-second/);
    await sps.json('webhook', 'remove', webhook_id);
  });

  describe('of one with more than is read at once', () => {
    const ROWS = 250;
    let named: string[];
    beforeAll(async () => {
      const { app_id, secret_key } = await sps.json('app', 'create', '--name', 'Long');
      named = ['--app', app_id, '--customer-user-id', 'ann'];
      await call('POST', `${API}profile/`, secret_key, { headers: CUSTOMER, body: {} });
      await sql`insert into webhook_event (event_id, app_id, profile_id, customer_user_id, event_type, payload)
        select gen_random_uuid(), app_id, profile_id, customer_user_id, 'written', json_build_object('line', e'a\nb', 'n', n)
        from profile, generate_series(1, ${ROWS}::integer) n where app_id = ${app_id} order by n`.execute(
        service.database.db,
      );
    }, PATIENCE.timeout);

    test('prints each row once, in order, laid out as any JSON', async () => {
      const { stdout } = await sps.attempt('profile', 'export', ...named);
      const exported = JSON.parse(stdout);
      expect(stdout).toBe(`${JSON.stringify(exported, null, 2)}\n`);
      expect(exported.events.map(({ payload }: { payload: { n: number } }) => payload.n)).toEqual(
        Array.from({ length: ROWS }, (_, i) => i + 1),
      );
      const { stdout: inOneLine } = await sps.attempt('profile', 'export', ...named, '--json');
      expect(inOneLine).toBe(`${JSON.stringify(exported)}\n`);
    });

    test('fails if its reader leaves, as what was read is not all', async () => {
      const child = sps.start('profile', 'export', ...named);
      child.stdout?.destroy();
      expect(await ended(child)).toMatchObject({ code: 1, stderr: 'sps: Not all of it could be written (EPIPE).\n' });
    });

    test.runIf(existsSync('/dev/full'))('fails if there is no room', async () => {
      const full = openSync('/dev/full', 'w');
      const child = sps.startInto(full, 'profile', 'export', ...named);
      closeSync(full);
      expect(await ended(child)).toMatchObject({ code: 1, stderr: 'sps: Not all of it could be written (ENOSPC).\n' });
    });
  });

  test('asks for a name, of a profile of that app', async () => {
    const { stderr } = await sps.attempt('profile', 'export', '--app', app);
    expect(stderr).toBe('sps: Name the profile: --customer-user-id or --profile-id.\n');
    for (const id of ['no id', '00000000-0000-4000-8000-000000000000']) {
      const ended = await sps.attempt('profile', 'export', '--app', app, '--profile-id', id);
      expect(ended).toMatchObject({ code: 1, stderr: 'sps: The app has no such profile.\n' });
    }
  });
});

test('store and rate', PATIENCE, async () => {
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

test('migrate says what it applied: here nothing', PATIENCE, async () => {
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

  test('lists its newest deliveries, no more than asked for', async () => {
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

  test('has its Authorization header from a file, for others to see no argument', async () => {
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

  test('is not added if its test event fails, unless that is not asked', async () => {
    // What a terminal would obey is not passed on.
    receiver.behave(answering(500, 'no\u001b[2J'));
    const add = ['webhook', 'add', '--app', app, '--url', receiver.url];
    expect(await sps.attempt(...add)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it answered 500 (no\uFFFD[2J)'),
    });
    expect(await sps.json(...add, '--no-verify')).toMatchObject({ webhook_id: expect.stringMatching(UUID) });
  });
});

describe(
  'an error is one sentence on standard error, with exit code 1 and nothing on standard output',
  PATIENCE,
  () => {
    const nowhere = '00000000-0000-4000-8000-000000000000';

    async function expectError(how: 'run' | 'attempt', args: string[], message: string): Promise<void> {
      const outcome = await sps[how](...args, '--json');
      expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
      expect(outcome.stderr).not.toContain('    at ');
    }

    test.each([
      [['app', 'create'], "required option '--name <name>' not specified"],
      [['key', 'list', '--app', nowhere], `There is no app ${nowhere}`],
    ])('sps %j, a process of its own', (args, message) => expectError('run', args, message));

    test.each([
      [['app', 'create', '--name', 'X', '--profile-shape', 'cube'], 'Allowed choices are dictionary, array.'],
      [['webhook', 'replay', '--since', '2025-01-01T00:00:00Z'], 'Give a webhook and --since, or --delivery alone.'],
      [['product', 'import', '/nowhere.json', '--app', nowhere], 'Cannot read /nowhere.json: there is no such file.'],
      [['webhook', 'deliveries', nowhere, '--limit', '0'], 'It must be from 1 to 1000.'],
      [['webhook', 'deliveries', nowhere, '--limit', '1001'], 'It must be from 1 to 1000.'],
      [['webhook', 'deliveries', nowhere, '--limit', '1000'], `There is no webhook ${nowhere}`],
      [['webhook', 'change', nowhere, '--authorization-file', ''], 'It must not be empty.'],
      [['product', 'add', '--app', nowhere, '--access-level', ''], 'It must not be empty.'],
      [['rate', 'import', '/nowhere.csv'], 'Cannot read /nowhere.csv: there is no such file.'],
    ])('sps %j', (args, message) => expectError('attempt', args, message));

    test('a database that does not answer, and a wrong configuration', async () => {
      const away = createSps({ DATABASE_URL: 'postgres://x:secret-password@127.0.0.1:1/x' });
      const outcome = await away.run('app', 'list');
      expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining('127.0.0.1:1 does not answer') });
      expect(outcome.stderr).not.toContain('secret-password');
      const stopped = createSps({ DATABASE_URL: 'postgres:///x?host=/nowhere' });
      expect(await stopped.run('app', 'list')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('The database at /nowhere/.s.PGSQL.5432 does not answer (ENOENT)'),
      });
      const wrong = createSps({ DATABASE_URL: 'mysql://x', PORT: 'x' });
      expect(await wrong.run('app', 'list')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/PORT must be .*\n.*DATABASE_URL must be/s),
      });
    });

    test.runIf(existsSync('/dev/full'))('an answer that cannot be written', async () => {
      const full = openSync('/dev/full', 'w');
      const child = sps.startInto(full, 'app', 'list');
      closeSync(full);
      const stderr = 'sps: What was asked for was done, but its answer cannot be written (ENOSPC).\n';
      expect(await ended(child)).toMatchObject({ code: 1, stderr });
    });

    test('but a reader that has had enough is none', async () => {
      const child = sps.start('app', 'list');
      child.stdout?.destroy();
      expect(await ended(child)).toMatchObject({ code: 0, stderr: '' });
    });
  },
);

test('--help is everywhere', PATIENCE, async () => {
  const page = { code: 0, stdout: expect.stringMatching(/Usage: sps.*--json/s) };
  expect(await sps.run('--help')).toMatchObject(page);
  for (const command of [
    ['app', 'create'],
    ['import', 'profiles'],
  ]) {
    expect(await sps.attempt(...command, '--help')).toMatchObject(page);
  }
});
