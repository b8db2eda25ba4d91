// Writing events: in the caller's transaction, for the endpoints that want them, in order.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { inTransaction } from '../../src/db/transactions.ts';
import { scrubEventsOf } from '../../src/profile/removal.ts';
import { disableWebhook, removeWebhook } from '../../src/webhooks/endpoints.ts';
import type { WebhookEvent } from '../../src/webhooks/events.ts';
import { recordEvents } from '../../src/webhooks/outbox.ts';
import { settle } from '../../src/webhooks/queue.ts';
import { createWorld, eventually, type World } from './world.ts';

let world: World;
let db: World['service']['deps']['db'];
let app: World['service']['app'];

beforeAll(async () => {
  world = await createWorld();
  ({ db } = world.service.deps);
  ({ app } = world.service);
});

beforeEach(async () => {
  for (const table of ['webhook_delivery', 'webhook_event', 'webhook'] as const) await db.deleteFrom(table).execute();
});

afterAll(async () => {
  await world.close();
});

function event(changes: Partial<WebhookEvent> = {}): WebhookEvent {
  return {
    event_id: randomUUID(),
    app_id: app.app_id,
    event_type: 'access_level_updated',
    profile_id: randomUUID(),
    customer_user_id: 'ann',
    payload: { n: 1 },
    ...changes,
  };
}

const addEndpoint = (input = {}) => world.addEndpoint('http://127.0.0.1:9/', input);

it('recording stores the event and a delivery per endpoint, and counts the events', async () => {
  const ids = [(await addEndpoint()).webhook_id, (await addEndpoint()).webhook_id];
  const { event_id, profile_id } = event();
  expect(await recordEvents(db, [event({ event_id, profile_id })])).toBe(1);
  const deliveries = await db.selectFrom('webhook_delivery').select(['webhook_id', 'profile_id', 'state']).execute();
  expect(deliveries.map(({ webhook_id }) => webhook_id).sort()).toEqual(ids.sort());
  expect(new Set(deliveries.map((one) => `${one.profile_id} ${one.state}`))).toEqual(
    new Set([`${profile_id} pending`]),
  );
});

it('payloads are stored as they are, including line breaks and quotes', async () => {
  await addEndpoint();
  const payloads = [{ text: 'one\ntwo\r\n"three"\\n\u2028 4' }, { text: '' }, { text: '{},\n' }];
  await recordEvents(
    db,
    payloads.map((payload) => event({ payload })),
  );
  const stored = await db.selectFrom('webhook_event').select('payload').orderBy('sequence').execute();
  expect(stored.map(({ payload }) => payload)).toEqual(payloads);
});

it('several events of a profile get ascending sequence numbers in the given order', async () => {
  await addEndpoint();
  const profile_id = randomUUID();
  const events = Array.from({ length: 50 }, (_, n) => event({ profile_id, payload: { n } }));
  expect(await recordEvents(db, events)).toBe(50);
  const stored = await db.selectFrom('webhook_event').select('event_id').orderBy('sequence').execute();
  expect(stored.map(({ event_id }) => event_id)).toEqual(events.map(({ event_id }) => event_id));
});

describe('which endpoints count', () => {
  it('none: without an endpoint there is no event', async () => {
    expect(await recordEvents(db, [event()])).toBe(0);
  });

  it('a disabled one does not', async () => {
    await disableWebhook(world.service.deps, (await addEndpoint()).webhook_id);
    expect(await recordEvents(db, [event()])).toBe(0);
  });

  it('a suspended one does, and its deliveries wait', async () => {
    await addEndpoint();
    await db.updateTable('webhook').set({ state: 'suspended' }).execute();
    expect(await recordEvents(db, [event()])).toBe(1);
    expect(await db.selectFrom('webhook_delivery').selectAll().execute()).toHaveLength(1);
  });

  it('one that does not want the type does: the event is in the feed, without a delivery', async () => {
    await addEndpoint();
    await db
      .updateTable('webhook')
      .set({ event_types: ['something_else'] })
      .execute();
    expect(await recordEvents(db, [event()])).toBe(1);
    expect(await db.selectFrom('webhook_delivery').selectAll().execute()).toEqual([]);
  });

  it('those of its own app do, even if events of several apps are recorded together', async () => {
    const { app: other } = await createApp(world.service.deps, { name: 'Other' });
    const webhooks = [await addEndpoint(), await addEndpoint({ appId: other.app_id })];
    const events = [event(), event({ app_id: other.app_id })];
    expect(await recordEvents(db, events)).toBe(2);
    const deliveries = await db
      .selectFrom('webhook_delivery')
      .innerJoin('webhook_event', 'webhook_event.sequence', 'webhook_delivery.sequence')
      .select(['webhook_id', 'event_id'])
      .orderBy('webhook_event.sequence')
      .execute();
    expect(deliveries).toEqual(
      webhooks.map(({ webhook_id }, index) => ({ webhook_id, event_id: events[index]?.event_id })),
    );
  });

  it('one of another app does not', async () => {
    await addEndpoint();
    expect(await recordEvents(db, [event({ app_id: randomUUID() })])).toBe(0);
  });
});

it("recording leaves nothing behind if the caller's transaction fails", async () => {
  await addEndpoint();
  const failing = inTransaction(db, async (trx) => {
    await recordEvents(trx, [event()]);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await db.selectFrom('webhook_event').selectAll().execute()).toEqual([]);
  expect(await db.selectFrom('webhook_delivery').selectAll().execute()).toEqual([]);
});

it('a response that arrives while its profile is being deleted is not kept', async () => {
  const { webhook_id } = await addEndpoint();
  const profile_id = randomUUID();
  await recordEvents(db, [event({ profile_id })]);
  const claim_id = randomUUID();
  const { sequence } = await db
    .updateTable('webhook_delivery')
    .set({ claim_id })
    .returning('sequence')
    .executeTakeFirstOrThrow();
  const result = { state: 'delivered', due_at: null, attempted_at: new Date(), status: 200, error: null } as const;
  const settling = await inTransaction(db, async (trx) => {
    await scrubEventsOf(trx, { app_id: app.app_id, profile_id });
    const under = settle(db, [{ sequence, webhook_id, claim_id, ...result, response: 'hello ann' }], new Date());
    await sleep(300);
    return { under };
  });
  expect(await settling.under).toHaveLength(1);
  const row = await db.selectFrom('webhook_delivery').select(['state', 'last_response']).executeTakeFirst();
  expect(row).toEqual({ state: 'delivered', last_response: null });
});

it('a deleted profile is removed from its events and from the responses to them', async () => {
  await addEndpoint();
  const [profile_id, other] = [randomUUID(), randomUUID()];
  const payload = {
    event_type: 'access_level_updated',
    customer_user_id: 'ann',
    attributions: { custom: { status: 'organic', network_user_id: 'net-1' } },
    user_attributes: { name: 'Ann' },
  };
  await recordEvents(db, [event({ profile_id, payload }), event({ profile_id: other, payload })]);
  await recordEvents(db, [event({ profile_id, payload: { ...payload, attributions: {} } })]);
  await db.updateTable('webhook_delivery').set({ last_response: 'hello ann' }).execute();
  await scrubEventsOf(db, { app_id: app.app_id, profile_id });

  const events = await db
    .selectFrom('webhook_event')
    .select(['profile_id', 'customer_user_id', 'payload'])
    .orderBy('sequence')
    .execute();
  const nameless = { ...payload, customer_user_id: null, attributions: {}, user_attributes: {} };
  expect(events).toEqual([
    { profile_id, customer_user_id: null, payload: nameless },
    { profile_id: other, customer_user_id: 'ann', payload },
    { profile_id, customer_user_id: null, payload: nameless },
  ]);
  const answers = await db.selectFrom('webhook_delivery').select(['profile_id', 'last_response']).execute();
  for (const one of answers) expect(one.last_response).toBe(one.profile_id === other ? 'hello ann' : null);
});

/** Waits until a removal has checked who is writing. */
async function waitForWriterCheck(): Promise<void> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db);
  await eventually(async () => {
    const looked = await sql`
      select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and state like 'idle%' and query like '%from pg_locks%' and query_start > ${rows[0]!.now}::timestamptz`.execute(
      db,
    );
    expect(looked.rows.length).toBeGreaterThan(0);
  });
}

it('an event recorded while its endpoint is being removed has a dead delivery, not a pending one', async () => {
  const { webhook_id } = await addEndpoint();
  const trx = await db.startTransaction().execute();
  await recordEvents(trx, [event()]);
  const removing = removeWebhook(world.service.deps, webhook_id).then(() => 'removed');
  await waitForWriterCheck();
  expect(await Promise.race([removing, sleep(200, 'waits')])).toBe('waits');
  expect(await db.selectFrom('webhook').select('webhook_id').execute()).toEqual([]);
  await trx.commit().execute();
  await removing;
  expect(await db.selectFrom('webhook_delivery').select('state').execute()).toEqual([{ state: 'dead' }]);
});

it('events recorded after a removal has begun do not delay it', async () => {
  const [{ webhook_id }] = [await addEndpoint(), await addEndpoint()];
  const first = await db.startTransaction().execute();
  await recordEvents(first, [event()]);
  const removing = removeWebhook(world.service.deps, webhook_id);
  await waitForWriterCheck();
  const second = await db.startTransaction().execute();
  await recordEvents(second, [event()]);
  await first.commit().execute();
  await removing.finally(() => second.commit().execute());
  const waiting = db.selectFrom('webhook_delivery').select('webhook_id').where('state', '=', 'pending');
  expect((await waiting.execute()).filter((row) => row.webhook_id === webhook_id)).toEqual([]);
});
