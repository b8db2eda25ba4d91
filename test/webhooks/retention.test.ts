// Old events are deleted, deliveries that wait too long die first, and whatever is younger or unfinished stays.
import { randomUUID } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { addWebhook } from '../../src/webhooks/endpoint-settings.ts';
import { rotateWebhookSecret } from '../../src/webhooks/endpoints.ts';
import { recordEvents } from '../../src/webhooks/outbox.ts';
import { replayDeliveries } from '../../src/webhooks/replay.ts';
import { startRetention, sweepEvents } from '../../src/webhooks/retention.ts';
import { waitForBlocked } from '../setup/locks.ts';
import { useWorld, type World } from './world.ts';

const DAY = 86_400;

let world: World;

useWorld(
  (made) => {
    world = made;
  },
  { EVENT_RETENTION_DAYS: '10' },
);

function inWorld() {
  const { deps, app, appId } = world.service;
  return { world, deps, app, appId, db: deps.db };
}

/** Records events of that many days ago, delivered unless said otherwise. */
async function record(daysAgo: number, { state = 'delivered', count = 1, profileId = '' } = {}): Promise<void> {
  const { deps, app, db } = inWorld();
  const events = Array.from({ length: count }, () => ({
    event_id: randomUUID(),
    app_id: app.app_id,
    event_type: 'access_level_updated' as const,
    profile_id: profileId || randomUUID(),
    customer_user_id: null,
    payload: { daysAgo },
  }));
  await recordEvents(deps.db, events);
  const at = `now() - interval '${daysAgo} days'`;
  await db.executeQuery(
    CompiledQuery.raw(`update webhook_event set created_at = ${at} where payload->>'daysAgo' = '${daysAgo}'`),
  );
  await db.executeQuery(
    CompiledQuery.raw(
      `update webhook_delivery d set queued_at = ${at}, due_at = ${at}, state = '${state}',
         finished_at = case when '${state}' <> 'pending' then ${at} end
       from webhook_event e where e.sequence = d.sequence and e.payload->>'daysAgo' = '${daysAgo}'`,
    ),
  );
}

async function left() {
  const { db } = inWorld();
  const events = await db.selectFrom('webhook_event').select('payload').orderBy('sequence').execute();
  const deliveries = await db.selectFrom('webhook_delivery').select('state').orderBy('sequence').execute();
  return {
    events: events.map(({ payload }) => (payload as { daysAgo: number }).daysAgo),
    deliveries: deliveries.map(({ state }) => state),
  };
}

it('finished events older than the configured days are pruned, with their deliveries', async () => {
  const { deps, appId } = inWorld();
  await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  await record(30);
  await record(29, { state: 'dead' });
  await record(11);
  await record(9);
  expect(await sweepEvents(deps)).toEqual({ died: 0, pruned: 3 });
  expect(await left()).toEqual({ events: [9], deliveries: ['delivered'] });
  expect(await sweepEvents(deps)).toEqual({ died: 0, pruned: 0 });
});

it('a delivery that has waited longer than that dies, and is kept for a week to be seen and replayed', async () => {
  const { deps, appId, world } = inWorld();
  await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  await record(12, { state: 'pending' });
  await record(9, { state: 'pending' });
  expect(await sweepEvents(deps)).toEqual({ died: 1, pruned: 0 });
  expect(await left()).toEqual({ events: [12, 9], deliveries: ['dead', 'pending'] });
  world.pass(6 * DAY);
  expect(await sweepEvents(deps)).toEqual({ died: 1, pruned: 0 });
  world.pass(2 * DAY);
  expect(await sweepEvents(deps)).toEqual({ died: 0, pruned: 1 });
  expect(await left()).toEqual({ events: [9], deliveries: ['dead'] });
});

it('the death of a delivery makes the next one for its profile due', async () => {
  const { deps, appId, db } = inWorld();
  await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  const profileId = randomUUID();
  for (const daysAgo of [13, 12, 9, 8]) await record(daysAgo, { state: 'pending', profileId });
  await record(9, { state: 'pending' });
  // A successor that was already tried keeps its wait, one that is being sent its lease.
  for (const changes of [{ attempts: 1 }, { claim_id: randomUUID() }]) {
    const tried = randomUUID();
    await record(11, { state: 'pending', profileId: tried });
    await record(7, { state: 'pending', profileId: tried });
    const next = db.updateTable('webhook_delivery').set(changes).where('profile_id', '=', tried);
    await next.where('queued_at', '>', sql<string>`now() - interval '8 days'`).execute();
  }
  await db.executeQuery(CompiledQuery.raw(`update webhook_delivery set due_at = now() + interval '8 hours'`));
  expect(await sweepEvents(deps)).toEqual({ died: 4, pruned: 0 });
  const rows = await db.selectFrom('webhook_delivery').select(['state', 'due_at']).orderBy('sequence').execute();
  const isDue = (at: string) => Date.parse(at) <= deps.now().getTime();
  expect(rows.filter(({ state }) => state === 'pending').map(({ due_at }) => isDue(due_at))).toEqual([
    true,
    ...Array(4).fill(false),
  ]);
});

it('the death of a delivery makes the next one due even if its event is old, because it was replayed', async () => {
  const { deps, appId, db } = inWorld();
  const { webhook_id: webhookId } = await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  const profileId = randomUUID();
  await record(13, { state: 'pending', profileId });
  await record(12, { state: 'dead', profileId });
  await replayDeliveries(deps, { webhookId, since: '2000-01-01T00:00:00Z' });
  await sql`update webhook_delivery set due_at = now() + interval '8 hours'`.execute(db);
  expect(await sweepEvents(deps)).toEqual({ died: 1, pruned: 0 });
  const rows = await db.selectFrom('webhook_delivery').select(['state', 'due_at']).orderBy('sequence').execute();
  expect(rows.map(({ state, due_at }) => [state, Date.parse(due_at) <= deps.now().getTime()])).toEqual([
    ['dead', false],
    ['pending', true],
  ]);
});

it('the death of a delivery makes due the next one for the same endpoint and profile, not what waits for others', async () => {
  const { deps, appId, db } = inWorld();
  const { webhook_id: other } = await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  const { webhook_id: ours } = await addWebhook(deps, { appId, url: 'http://127.0.0.1:10/', verify: false });
  const profileId = randomUUID();
  await record(12, { state: 'pending', profileId });
  await record(9, { state: 'pending' });
  for (const daysAgo of [8, 7]) await record(daysAgo, { state: 'pending', profileId });
  // Of the old event only our endpoint's delivery is left to be sent, of the one after it only the other endpoint's.
  await sql`
    update webhook_delivery d set state = 'delivered' from webhook_event e
    where e.sequence = d.sequence
      and (e.payload->>'daysAgo', webhook_id) in (('12', ${other}::uuid), ('8', ${ours}::uuid))`.execute(db);
  await sql`update webhook_delivery set due_at = now() + interval '8 hours'`.execute(db);
  expect(await sweepEvents(deps)).toEqual({ died: 1, pruned: 0 });
  const due = await sql`
    select e.payload->>'daysAgo' as days_ago, webhook_id from webhook_delivery d join webhook_event e using (sequence)
    where due_at <= ${deps.now()}`.execute(db);
  expect(due.rows).toEqual([{ days_ago: '7', webhook_id: ours }]);
});

it('the wait of a replayed delivery counts from the replay', async () => {
  const { deps, appId } = inWorld();
  const { webhook_id: webhookId } = await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  await addWebhook(deps, { appId, url: 'http://127.0.0.1:10/', verify: false });
  await record(12, { state: 'dead' });
  await replayDeliveries(deps, { webhookId, since: '2000-01-01T00:00:00Z' });
  expect(await sweepEvents(deps)).toEqual({ died: 0, pruned: 0 });
  // The delivery of the other endpoint has ended, but stays: the two go together.
  const { events, deliveries } = await left();
  expect([events, deliveries.sort()]).toEqual([[12], ['dead', 'pending']]);
});

it('an event whose delivery is replayed while it is being pruned is kept', async () => {
  const { world, deps, appId, db } = inWorld();
  const { webhook_id: webhookId } = await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  await record(30, { state: 'dead' });
  await record(29, { state: 'dead' });
  let sweep: Promise<{ pruned: number }> | undefined;
  await db.transaction().execute(async (trx) => {
    const first = await trx.selectFrom('webhook_delivery').select('sequence').orderBy('sequence').executeTakeFirst();
    await replayDeliveries({ ...deps, db: trx }, { deliveryId: `${first?.sequence}-${webhookId}` });
    sweep = sweepEvents(deps);
    await waitForBlocked(world.service);
  });
  expect(await sweep).toMatchObject({ pruned: 1 });
  expect(await left()).toEqual({ events: [30], deliveries: ['pending'] });
});

it('an event that nobody wanted is pruned', async () => {
  const { deps, appId, db } = inWorld();
  await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  await db.updateTable('webhook').set({ event_types: [] }).execute();
  await record(11);
  expect(await sweepEvents(deps)).toEqual({ died: 0, pruned: 1 });
  expect(await left()).toEqual({ events: [], deliveries: [] });
});

it('pruning works in batches, passes old events that must stay, and ends after a batch when stopped', async () => {
  const { deps, appId } = inWorld();
  await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  await record(25, { count: 2_500 });
  await record(24, { count: 10 });
  await record(1, { count: 5 });
  let batches = 0;
  expect(await sweepEvents(deps, () => batches++ === 1)).toEqual({ died: 0, pruned: 1_000 });
  expect(await sweepEvents(deps)).toEqual({ died: 0, pruned: 1_510 });
  expect((await left()).events).toEqual([1, 1, 1, 1, 1]);
});

it('what was delivered is kept no longer than the configured days, however few', async () => {
  const { deps, appId, db } = inWorld();
  await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
  await record(12);
  await record(11, { state: 'dead' });
  await db.updateTable('webhook_delivery').set({ finished_at: sql`now() - interval '1 day'` }).execute();
  expect(await sweepEvents(deps)).toEqual({ died: 0, pruned: 1 });
  expect(await left()).toEqual({ events: [11], deliveries: ['dead'] });
});

it('retention runs by itself, and forgets a replaced secret once it no longer signs', async () => {
  const { deps, appId, world, db } = inWorld();
  const rotate = async () => {
    const { webhook_id } = await addWebhook(deps, { appId, url: 'http://127.0.0.1:9/', verify: false });
    await rotateWebhookSecret(deps, webhook_id);
    return webhook_id;
  };
  await rotate();
  world.pass(DAY / 2);
  const later = await rotate();
  world.pass(DAY / 2 + 1);
  await record(11);
  const retention = startRetention(deps);
  await vi.waitFor(async () => {
    const kept = await db.selectFrom('webhook').select('webhook_id').where('previous_secret', 'is not', null).execute();
    expect(kept).toEqual([{ webhook_id: later }]);
    expect((await left()).events).toEqual([]);
  });
  await retention.stop();
  const until = await db.selectFrom('webhook').select('previous_secret_until').orderBy('created_at').execute();
  expect(until.map(({ previous_secret_until }) => previous_secret_until === null)).toEqual([true, false]);
});
