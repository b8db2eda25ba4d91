// Dead deliveries: seen, and sent again.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { disableWebhook, removeWebhook } from '../../src/webhooks/endpoints.ts';
import { listDeliveries, replayDeliveries } from '../../src/webhooks/replay.ts';
import { RETRY_WAITS_S } from '../../src/webhooks/schedule.ts';
import { deleteProfile } from '../profile/world.ts';
import { answering, type Receiver } from './receiver.ts';
import { createWorld, eventually, type World } from './world.ts';

let world: World;
let deps: World['service']['deps'];
let receiver: Receiver;
let webhookId: string;

beforeAll(async () => {
  world = await createWorld();
  ({ deps } = world.service);
  receiver = await world.receive(answering(500, 'broken'));
  ({ webhook_id: webhookId } = await world.addEndpoint(receiver.url));
  await world.addProfile('ann');
  await world.addProfile('bob');
  await world.grant('ann', { starts_at: '2025-01-01T00:00:01Z' });
  await world.grant('ann', { starts_at: '2025-01-01T00:00:02Z' });
  await world.grant('bob', { starts_at: '2025-01-01T00:00:03Z' });
  for (const dead of [2, 3]) {
    const last = { attempts: RETRY_WAITS_S.length, due_at: deps.now().toISOString() };
    await deps.db.updateTable('webhook_delivery').set(last).where('state', '=', 'pending').execute();
    if (dead === 2) world.dispatch();
    await eventually(async () => expect(await listDeliveries(deps, webhookId, { state: 'dead' })).toHaveLength(dead));
  }
});

afterAll(async () => {
  await world.close();
});

it('deliveries are listed newest first, by state, with the last response', async () => {
  const dead = await listDeliveries(deps, webhookId, { state: 'dead' });
  expect(dead[0]).toEqual({
    delivery_id: expect.stringMatching(new RegExp(`^\\d+-${webhookId}$`)),
    event_id: expect.any(String),
    event_type: 'access_level_updated',
    profile_id: expect.any(String),
    state: 'dead',
    attempts: 10,
    last_status: 500,
    last_error: null,
    last_response: 'broken',
    created_at: expect.stringMatching(/\+0000$/),
    attempted_at: expect.stringMatching(/\+0000$/),
    next_attempt_at: null,
  });
  expect(await listDeliveries(deps, webhookId)).toEqual(dead);
  expect(await listDeliveries(deps, webhookId, { limit: 2 })).toEqual(dead.slice(0, 2));
  expect(await listDeliveries(deps, webhookId, { state: 'pending' })).toEqual([]);
  await expect(listDeliveries(deps, 'none')).rejects.toThrow('There is no webhook none');
});

it('deliveries are listed and replayed for their endpoint alone', async () => {
  const { webhook_id: other } = await world.addEndpoint(receiver.url);
  expect(await listDeliveries(deps, other)).toEqual([]);
  expect(await replayDeliveries(deps, { webhookId: other, since: '2020-01-01T00:00:00Z' })).toEqual({ replayed: 0 });
  const [newest] = await listDeliveries(deps, webhookId);
  const deliveryId = newest!.delivery_id.replace(webhookId, other);
  await expect(replayDeliveries(deps, { deliveryId })).rejects.toThrow('There is no delivery');
});

it('deliveries go out again from a datetime on or one by one, with the same webhook-id', async () => {
  const [newest, middle, oldest] = await listDeliveries(deps, webhookId);
  const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  receiver.behave(answering(200));
  receiver.received.length = 0;

  expect(await replayDeliveries(deps, { webhookId, since: middle?.created_at ?? '' })).toEqual({ replayed: 2 });
  await eventually(() => expect(receiver.received).toHaveLength(2));
  expect(await replayDeliveries(deps, { deliveryId: oldest?.delivery_id ?? '' })).toEqual({ replayed: 1 });
  await eventually(async () => expect(await listDeliveries(deps, webhookId, { state: 'delivered' })).toHaveLength(3));
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(ids);
  expect((await listDeliveries(deps, webhookId)).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);

  // A delivered one may be replayed by its id, never by a datetime.
  expect(await replayDeliveries(deps, { webhookId, since: '2020-01-01T00:00:00Z' })).toEqual({ replayed: 0 });
  await replayDeliveries(deps, { deliveryId: newest?.delivery_id ?? '' });
  await eventually(() => expect(receiver.received).toHaveLength(4));
});

it('more dead deliveries than one statement puts back are all replayed, and no older ones', async () => {
  const { webhook_id: other } = await world.addEndpoint(receiver.url);
  await disableWebhook(deps, other);
  const profileId = await world.addProfile('cat');
  await sql`
    with event as (
      insert into webhook_event (event_id, app_id, profile_id, event_type, created_at, payload)
      select gen_random_uuid(), w.app_id, ${profileId}, 'access_level_updated',
        '2025-01-01T00:00:00Z'::timestamptz + n * interval '1 second', '{}'
      from webhook w, generate_series(1, 20100) n where w.webhook_id = ${other}
      returning sequence
    )
    insert into webhook_delivery (sequence, webhook_id, profile_id, state, attempts)
    select sequence, ${other}, ${profileId}, 'dead', 10 from event`.execute(deps.db);
  const since = '2025-01-01T00:01:41Z';
  expect(await replayDeliveries(deps, { webhookId: other, since })).toEqual({ replayed: 20_000 });
  const { rows } = await sql`
    select d.state, d.attempts, count(*)::integer, min(e.created_at) as first
    from webhook_delivery d join webhook_event e using (sequence) where d.webhook_id = ${other}
    group by 1, 2 order by 1`.execute(deps.db);
  expect(rows).toEqual([
    { state: 'dead', attempts: 10, count: 100, first: '2025-01-01 00:00:01+00' },
    { state: 'pending', attempts: 0, count: 20_000, first: '2025-01-01 00:01:41+00' },
  ]);
  expect(await replayDeliveries(deps, { webhookId: other, since })).toEqual({ replayed: 0 });
  await removeWebhook(deps, other);
});

it('mistakes in a replay are named', async () => {
  await expect(replayDeliveries(deps, { webhookId, since: 'yesterday' })).rejects.toThrow(
    'yesterday is not a datetime',
  );
  await expect(replayDeliveries(deps, { webhookId: 'none', since: '2020-01-01T00:00:00Z' })).rejects.toThrow(
    'There is no webhook none',
  );
  const far = `999999-${webhookId}`;
  for (const [deliveryId, name] of [
    ['7', '7'],
    [far, `${far} that is dead or delivered`],
  ] as const) {
    await expect(replayDeliveries(deps, { deliveryId })).rejects.toThrow(
      `There is no delivery ${name}; see \`sps webhook deliveries\`.`,
    );
  }
});

it('deliveries keep no response that came after their profile was deleted', async () => {
  await world.addProfile('eve');
  receiver.behave(async (response) => {
    await deleteProfile(world.service, { customer: 'eve' });
    response.writeHead(500).end('who is eve?');
  });
  await world.grant('eve');
  await eventually(async () => {
    const [newest] = await listDeliveries(deps, webhookId);
    expect(newest).toMatchObject({ attempts: 1, last_status: 500, last_response: null });
  });
  // Nor can they be replayed while an attempt is still to come.
  const [newest] = await listDeliveries(deps, webhookId);
  await expect(replayDeliveries(deps, { deliveryId: newest!.delivery_id })).rejects.toThrow('dead or delivered');
});
