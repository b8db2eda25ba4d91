// What a dispatcher holds: no other sends it while this one lives, and what this one cannot send it gives back.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordEvents } from '../../src/webhooks/outbox.ts';
import { claimIn } from './claiming.ts';
import { hanging } from './receiver.ts';
import { eventually, useWorld, type World } from './world.ts';

let world: World;
let db: World['service']['deps']['db'];

useWorld((made) => {
  world = made;
  ({ db } = made.service.deps);
});

beforeEach(async () => {
  await world.addProfile('ann');
  await world.addProfile('bob');
});

describe('a dispatcher', () => {
  it('renews the lease of a delivery that takes long, so that no other process sends it too', async () => {
    const receiver = await world.receive(hanging);
    await world.addEndpoint(receiver.url);
    await world.grant('ann');
    for (let i = 0; i < 3; i++) world.dispatch({ leaseMs: 1_000, deadlineMs: 3_000 });
    await sleep(2_500);
    expect(receiver.received).toHaveLength(1);
  });

  it('sends what a process that died held, once its lease is over', async () => {
    const receiver = await world.receive();
    await world.addEndpoint(receiver.url);
    await world.grant('ann');
    await claimIn(world);
    world.dispatch();
    await sleep(200);
    expect(receiver.received).toHaveLength(0);
    world.pass(30);
    await eventually(() => expect(receiver.received).toHaveLength(1));
  });

  it('soon checks again what waits behind a delivery that ends unseen, whatever else it sends meanwhile', async () => {
    const receiver = await world.receive();
    await world.addEndpoint(receiver.url);
    await world.grant('ann');
    await claimIn(world);
    await world.grant('ann');
    await world.grant('bob');
    world.dispatch({ pollMs: 60_000 });
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await sleep(100);
    // As if the statement that settled the delivery had missed its successor.
    await db.updateTable('webhook_delivery').set({ state: 'delivered' }).where('claim_id', 'is not', null).execute();
    await eventually(() => expect(receiver.received).toHaveLength(2));
  });

  it('finishes what is in progress when it stops, takes nothing more and leaves nothing claimed', async () => {
    let letAnswer = () => {};
    const mayAnswer = new Promise<void>((resolve) => {
      letAnswer = resolve;
    });
    const receiver = await world.receive((response) => void mayAnswer.then(() => response.end()));
    await world.addEndpoint(receiver.url);
    for (let i = 0; i < 30; i++) {
      await world.addProfile(`p${i}`);
      await world.grant(`p${i}`);
    }
    const dispatcher = world.dispatch({ limits: { perEndpoint: 10 } });
    await eventually(() => expect(receiver.received).toHaveLength(10));
    const stopped = dispatcher.stop();
    await sleep(200);
    letAnswer();
    await stopped;
    await sleep(100);
    expect(receiver.received).toHaveLength(10);
    const rows = await db.selectFrom('webhook_delivery').select(['state', 'claim_id']).execute();
    expect(rows.filter(({ state }) => state === 'delivered')).toHaveLength(10);
    expect(rows.filter(({ claim_id }) => claim_id !== null)).toEqual([]);
  });

  it('gives back what waits when it stops, even while the sweep of old events is held up', async () => {
    let answerLast = () => {};
    const receiver = await world.receive((response) => {
      if (receiver.received.length === 8) answerLast = () => response.end();
      else response.end();
    });
    const { webhook_id } = await world.addEndpoint(receiver.url);
    for (let i = 0; i < 12; i++) {
      await world.addProfile(`p${i}`);
      await world.grant(`p${i}`);
    }
    // An expired secret, which the sweep deletes.
    const expired = { previous_secret: '', previous_secret_until: '2020-01-01' };
    await db.updateTable('webhook').set(expired).where('webhook_id', '=', webhook_id).execute();
    const trx = await db.startTransaction().execute();
    await sql`select from webhook for update`.execute(trx);
    const dispatcher = world.dispatch({ limits: { perEndpoint: 1, ahead: 20 } });
    await eventually(() => expect(receiver.received).toHaveLength(8));
    await eventually(async () => expect(await world.countClaimed()).toBeGreaterThan(1));
    const stopped = dispatcher.stop();
    await eventually(async () => expect(await world.countClaimed()).toBe(1)).finally(() => trx.rollback().execute());
    answerLast();
    await stopped;
  });

  it('lets the event loop turn after each hundred deliveries that it begins', async () => {
    await world.addEndpoint('http://receiver.test/');
    const events = Array.from({ length: 250 }, () => ({
      event_id: randomUUID(),
      app_id: world.service.appId,
      event_type: 'access_level_updated' as const,
      profile_id: randomUUID(),
      customer_user_id: null,
      payload: {},
    }));
    await recordEvents(db, events);
    const begun: number[] = [];
    let inThisTurn = 0;
    const endTurn = () => {
      begun.push(inThisTurn);
      inThisTurn = 0;
    };
    const resolve = () => {
      if (++inThisTurn === 1) setImmediate(endTurn);
      return Promise.reject(new Error('unknown'));
    };
    world.dispatch({ resolve, limits: { perEndpoint: 500 } });
    await eventually(() => expect(begun).toEqual([100, 100, 50]));
  });

  it('holds more for an endpoint that takes them fast, never sends more concurrently, and gives back what waits when one fails or it stops', async () => {
    let inFlight = 0;
    let maxInFlight = 0;
    let count = 0;
    const receiver = await world.receive((response) => {
      maxInFlight = Math.max(maxInFlight, ++inFlight);
      const place = ++count;
      const end = () => {
        inFlight--;
        response.writeHead(place === 31 ? 500 : 200).end();
      };
      if (place <= 30) end();
      else setTimeout(end, 300);
    });
    await world.addEndpoint(receiver.url);
    for (let i = 0; i < 60; i++) {
      await world.addProfile(`p${i}`);
      await world.grant(`p${i}`);
    }
    const dispatcher = world.dispatch({ limits: { perEndpoint: 2, ahead: 20 } });
    await eventually(() => expect(receiver.received.length).toBe(32));
    expect(await world.countClaimed()).toBeGreaterThan(2);
    await eventually(async () => expect(receiver.received.length).toBeGreaterThan(32));
    expect(await world.countClaimed()).toBeLessThanOrEqual(3);
    await dispatcher.stop();
    expect(maxInFlight).toBe(2);
    expect(await world.countClaimed()).toBe(0);
    const rows = await db.selectFrom('webhook_delivery').select(['state', 'attempts']).execute();
    expect(rows.filter(({ attempts }) => attempts === 1)).toHaveLength(receiver.received.length);
    expect(rows.filter(({ state }) => state === 'delivered')).toHaveLength(receiver.received.length - 1);
  });

  it('does not send a delivery whose lease ended while it waited for its turn: another process has it', async () => {
    let answerLast = () => {};
    const receiver = await world.receive((response) => {
      if (receiver.received.length === 8) answerLast = () => response.end();
      else response.end();
    });
    await world.addEndpoint(receiver.url);
    for (let i = 0; i < 12; i++) {
      await world.addProfile(`p${i}`);
      await world.grant(`p${i}`);
    }
    world.dispatch({ pollMs: 60_000, limits: { perEndpoint: 1, ahead: 20 } });
    await eventually(() => expect(receiver.received).toHaveLength(8));
    await eventually(async () => expect(await world.countClaimed()).toBeGreaterThan(1));
    await sleep(50);
    world.pass(31);
    expect((await claimIn(world)).claimed.length).toBeGreaterThan(1);
    answerLast();
    await sleep(100);
    expect(receiver.received).toHaveLength(8);
  });

  it('is woken by a grant of any process; polling is only a fallback', async () => {
    const receiver = await world.receive();
    await world.addEndpoint(receiver.url);
    world.dispatch({ pollMs: 60_000 });
    await sleep(200);
    const latencies: number[] = [];
    for (let i = 0; i < 20; i++) {
      const before = performance.now();
      await world.grant(i % 2 ? 'ann' : 'bob');
      await eventually(() => expect(receiver.received).toHaveLength(i + 1));
      latencies.push((receiver.received[i]?.at ?? Number.NaN) - before);
      await sleep(10);
    }
    latencies.sort((a, b) => a - b);
    expect(latencies[10]).toBeLessThan(2_000);
  });
});
