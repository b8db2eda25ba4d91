// What a grant writes and what arrives: the whole way, from the request to the receiver and the feed.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toWire } from '../../src/lib/datetime.ts';
import { disableWebhook, enableWebhook } from '../../src/webhooks/endpoints.ts';
import { grant } from '../grants/world.ts';
import { addProfile } from '../setup/world.ts';
import type { Receiver } from './receiver.ts';
import { createWorld, eventually, type World } from './world.ts';

let world: World;
let receiver: Receiver;
let profileId: string;
let webhook: { webhook_id: string; secret: string };

beforeAll(async () => {
  world = await createWorld();
  receiver = await world.receive();
  profileId = await world.addProfile('ann');
});

afterAll(async () => {
  await world.close();
});

it('a grant writes no event without an endpoint, nor with only a disabled one', async () => {
  expect((await world.grant('ann')).status).toBe(200);
  expect(await world.feed()).toEqual({ data: [], next_cursor: null });
  webhook = await world.addEndpoint(`${receiver.url}/hook`, { authorization: 'Bearer token' });
  await disableWebhook(world.service.deps, webhook.webhook_id);
  await world.grant('ann');
  expect((await world.feed()).data).toEqual([]);
  await enableWebhook(world.service.deps, webhook.webhook_id);
});

it('a grant delivers access_level_updated as decided, signed, and shows it in the feed', async () => {
  const { deps, appId } = world.service;
  await deps.db
    .updateTable('profile')
    .set({ custom_attributes: JSON.stringify({ plan: 'gold', age: 33.5 }) })
    .where('profile_id', '=', profileId)
    .execute();
  await world.service.call('POST', '/api/v2/web-api/attribution/', {
    key: world.service.publicKey,
    body: {
      status: 'non_organic',
      channel: 'ads',
      campaign: 'spring',
      attribution_user_id: 'net-1',
      profile_id: profileId,
    },
  });
  const first = await deps.db
    .selectFrom('access_grant')
    .select('first_granted_at')
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow();
  const { recorded_at } = await deps.db
    .selectFrom('profile_attribution')
    .select('recorded_at')
    .where('profile_id', '=', profileId)
    .executeTakeFirstOrThrow();
  const response = await world.grant('ann', {
    starts_at: '2025-01-15T10:30:00.123456Z',
    expires_at: '2099-01-01T00:00:00+0100',
  });
  const level = response.json.data.access_levels.premium;

  world.dispatch();
  await eventually(() => expect(receiver.received).toHaveLength(1));
  const [{ headers, body, path }] = receiver.received as [(typeof receiver.received)[0]];
  expect(path).toBe('/hook');
  expect(headers.authorization).toBe('Bearer token');
  const payload = new Webhook(webhook.secret).verify(body, headers as Record<string, string>);
  expect(JSON.stringify(payload)).toBe(body);
  expect(payload).toEqual({
    event_type: 'access_level_updated',
    event_datetime: level.purchased_at,
    event_api_version: 1,
    profile_id: profileId,
    customer_user_id: 'ann',
    profile_install_datetime: '2025-01-01T00:00:00.000000+0000',
    event_properties: {
      profile_event_id: headers['webhook-id'],
      access_level_id: 'premium',
      is_active: true,
      is_lifetime: false,
      is_refund: false,
      is_in_grace_period: false,
      will_renew: false,
      activated_at: level.originally_purchased_at,
      renewed_at: level.purchased_at,
      starts_at: '2025-01-15T10:30:00.123456+0000',
      expires_at: '2098-12-31T23:00:00.000000+0000',
      store: 'service',
      vendor_product_id: 'server_side_grant',
      transaction_id: level.store_transaction_id,
      original_transaction_id: level.store_original_transaction_id,
      environment: 'Production',
      cancellation_reason: null,
      profile_has_access_level: true,
      profile_total_revenue_usd: 0,
    },
    attributions: {
      custom: {
        status: 'non_organic',
        channel: 'ads',
        campaign: 'spring',
        ad_group: null,
        ad_set: null,
        creative: null,
        network_user_id: 'net-1',
        created_at: toWire(recorded_at),
      },
    },
    user_attributes: { plan: 'gold', age: 33.5 },
  });
  expect(level.originally_purchased_at.slice(0, 19)).toBe(first.first_granted_at.replace(' ', 'T').slice(0, 19));

  await eventually(async () => expect((await world.feed()).data[0].deliveries[0].state).toBe('delivered'));
  expect(await world.feed()).toEqual({
    data: [
      {
        event_id: headers['webhook-id'],
        event_type: 'access_level_updated',
        created_at: expect.stringMatching(/\+0000$/),
        payload,
        deliveries: [
          { webhook_id: webhook.webhook_id, state: 'delivered', attempts: 1, last_status: 200, next_attempt_at: null },
        ],
      },
    ],
    next_cursor: null,
  });
});

it('an event describes the grant that was made, even if it is over or has not begun', async () => {
  const past = { starts_at: '2020-01-01T00:00:00Z', expires_at: '2020-02-01T00:00:00Z' };
  await world.grant('ann', past);
  await world.grant('ann', { starts_at: '2090-01-01T00:00:00Z' });
  await eventually(() => expect(receiver.received).toHaveLength(3));
  const [, over, future] = receiver.events().map(({ event_properties }) => event_properties);
  expect(over).toMatchObject({ is_active: false, is_lifetime: false, profile_has_access_level: false });
  expect(future).toMatchObject({ is_active: false, is_lifetime: true, profile_has_access_level: false });
});

it('the event of a profile that was never identified has no customer user id', async () => {
  const anonymous = await addProfile(world.service, null);
  await grant(world.service, { access_level_id: 'premium' }, { 'service-profile-id': anonymous });
  const [{ payload }] = (await world.feed(`?profile_id=${anonymous}`)).data;
  expect(payload).toMatchObject({ profile_id: anonymous, customer_user_id: null });
});

it('a refused grant writes no event', async () => {
  const before = (await world.feed()).data.length;
  expect((await world.grant('ann', { access_level_id: 'nothing' })).status).toBe(400);
  expect((await world.grant('nobody')).status).toBe(404);
  expect((await world.feed()).data).toHaveLength(before);
});
