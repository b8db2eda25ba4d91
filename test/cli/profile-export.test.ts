// sps profile export: everything that is stored about a person.
import { closeSync, existsSync, openSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CallOptions, startService, type TestService } from '../setup/service.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { createSps, ended, PATIENCE, type Sps } from './sps.ts';

/** Keeps running on the same database. */
let service: TestService;
let receiver: Receiver;
let sps: Sps;
beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
  sps = createSps({ DATABASE_URL: service.database.url, WEBHOOK_ALLOW_PRIVATE: 'true' });
});
afterAll(async () => {
  sps.close();
  await receiver.close();
  await service.close();
});

describe('profile export', PATIENCE, () => {
  const call = async (method: string, path: string, key: string, options: CallOptions) => {
    const response = await service.call(method, path, { key, ...options });
    expect(response.status, response.text).toBeLessThan(300);
    return response.json;
  };
  const [API, CUSTOMER] = ['/api/v2/server-side-api/', { 'service-customer-user-id': 'ann' }];

  test('prints everything that is stored about a person, and after a deletion what remains', async () => {
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
      kept_responses: [{ operation: 'grant', idempotency_key: 'once' }],
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
      ...{ attributions: [], access_grants: [], transactions: [{ store_transaction_id: 't1' }], kept_responses: [] },
    });
    expect(left.stdout).not.toMatch(/ann|id-first|id-second/);
    await sps.json('webhook', 'remove', webhook_id);
  });

  describe('of a profile with more rows than are read at a time', () => {
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

    test('prints each row once, in order, formatted like any JSON', async () => {
      const { stdout } = await sps.attempt('profile', 'export', ...named);
      const exported = JSON.parse(stdout);
      expect(stdout).toBe(`${JSON.stringify(exported, null, 2)}\n`);
      expect(exported.events.map(({ payload }: { payload: { n: number } }) => payload.n)).toEqual(
        Array.from({ length: ROWS }, (_, i) => i + 1),
      );
      const { stdout: inOneLine } = await sps.attempt('profile', 'export', ...named, '--json');
      expect(inOneLine).toBe(`${JSON.stringify(exported)}\n`);
    });

    test('fails if its reader leaves, since not everything was written', async () => {
      const child = sps.start('profile', 'export', ...named);
      child.stdout?.destroy();
      expect(await ended(child)).toMatchObject({
        code: 1,
        stderr: 'sps: The output could not be written completely (EPIPE).\n',
      });
    });

    test.runIf(existsSync('/dev/full'))('fails if the disk is full', async () => {
      const full = openSync('/dev/full', 'w');
      const child = sps.startInto(full, 'profile', 'export', ...named);
      closeSync(full);
      expect(await ended(child)).toMatchObject({
        code: 1,
        stderr: 'sps: The output could not be written completely (ENOSPC).\n',
      });
    });
  });

  test('asks for the name of a profile, which must belong to that app', async () => {
    const { stderr } = await sps.attempt('profile', 'export', '--app', service.appId);
    expect(stderr).toBe('sps: Give --customer-user-id or --profile-id.\n');
    for (const id of ['no id', '00000000-0000-4000-8000-000000000000']) {
      const ended = await sps.attempt('profile', 'export', '--app', service.appId, '--profile-id', id);
      expect(ended).toMatchObject({ code: 1, stderr: 'sps: The app has no such profile.\n' });
    }
  });
});
