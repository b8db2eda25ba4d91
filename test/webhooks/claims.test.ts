// Claims and leases: what a process that died held is taken over, what a live one holds is left alone.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { disableWebhook, enableWebhook } from '../../src/webhooks/endpoints.ts';
import { recordEvents } from '../../src/webhooks/outbox.ts';
import { judgeAttempt } from '../../src/webhooks/outcome.ts';
import {
  type Claimed,
  type ClaimRequest,
  claimDue,
  releaseClaims,
  releaseClaimUntil,
  renewLeases,
  type Settlement,
  settle,
} from '../../src/webhooks/queue.ts';
import { replayDeliveries } from '../../src/webhooks/replay.ts';
import { sweepEvents } from '../../src/webhooks/retention.ts';
import { createSettler, type Settler } from '../../src/webhooks/settler.ts';
import { connectTo } from '../db/one-connection.ts';
import { hanging } from './receiver.ts';
import { createWorld, eventually, type World } from './world.ts';

let world: World;
let db: World['service']['deps']['db'];

beforeEach(async () => {
  world = await createWorld();
  ({ db } = world.service.deps);
  await world.addProfile('ann');
  await world.addProfile('bob');
});

afterEach(async () => {
  await world.close();
});

function claim(changes: Partial<ClaimRequest> = {}) {
  const now = world.service.deps.now();
  const leaseUntil = new Date(now.getTime() + 30_000);
  const limits = { total: 100, perEndpoint: 16, ailingAfter: 5, ailingSlots: 2 };
  return claimDue(db, {
    ...limits,
    now,
    leaseUntil,
    claimId: randomUUID(),
    held: new Map(),
    ahead: new Map(),
    extraRows: 64,
    ...changes,
  });
}

/** Settles the attempts as delivered, or with what is given. */
function settleAs(deliveries: readonly Claimed[], changes: Partial<Settlement> = {}) {
  const now = world.service.deps.now();
  const delivered = { state: 'delivered', due_at: null, status: 200, error: null, answer: 'ok' } as const;
  const settlements = deliveries.map(({ sequence, webhook_id, claim_id }): Settlement => {
    return { sequence, webhook_id, claim_id, attempted_at: now, ...delivered, ...changes };
  });
  return settle(db, settlements, now);
}

/** Adds what an attempt was answered. */
function addResult(settler: Settler, delivery: Claimed | undefined, status: number): void {
  const attempt = { status, error: null, answer: null, retryAfterS: 0, seconds: 0 };
  settler.add(delivery!, judgeAttempt(delivery!, attempt, { at: world.service.deps.now(), random: 0.5 }));
}

describe('a claim', () => {
  beforeEach(async () => {
    await world.addEndpoint('http://127.0.0.1:9/');
    await world.grant('ann');
    await world.grant('ann');
    await world.grant('bob');
  });

  it('takes the first of each profile, once', async () => {
    const { claimed, putOff } = await claim();
    expect([claimed.length, putOff]).toEqual([2, 1]);
    expect(await claim()).toEqual({ claimed: [], putOff: 0 });
  });

  it('is shared out among claims at the same moment', async () => {
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim()));
    const sequences = claims.flatMap(({ claimed }) => claimed.map(({ sequence }) => sequence));
    expect(sequences.length).toBe(new Set(sequences).size);
    expect(sequences.length).toBeGreaterThanOrEqual(1);
  });

  it('ends with its lease, unless that is renewed', async () => {
    const { claimed } = await claim();
    world.pass(29);
    const until = new Date(world.service.deps.now().getTime() + 30_000);
    const kept = claimed.slice(0, 1);
    const lost = kept.map((key) => ({ ...key, sequence: claimed[1]?.sequence as bigint, claim_id: randomUUID() }));
    await renewLeases(db, [...kept, ...lost], until);
    world.pass(2);
    const later = await claim();
    expect(later.claimed.map(({ sequence }) => sequence)).toEqual([claimed[1]?.sequence]);
  });

  it('stands when its endpoint is disabled and enabled: what is under way is not sent twice', async () => {
    const { claimed } = await claim();
    const [{ webhook_id }] = claimed as [(typeof claimed)[0]];
    await disableWebhook(world.service.deps, webhook_id);
    await enableWebhook(world.service.deps, webhook_id);
    expect((await claim()).claimed).toEqual([]);
  });

  it('is needed to settle: who lost it changes nothing', async () => {
    const { claimed } = await claim();
    world.pass(31);
    const again = await claim();
    expect(await settleAs(claimed)).toEqual([]);
    expect(await settleAs(again.claimed)).toHaveLength(2);
    expect(await settleAs(again.claimed)).toEqual([]);
    const [successor] = (await claim()).claimed;
    expect(successor?.sequence).toBe(2n);
  });

  it('is over when its delivery dies of age: what the attempt ends with changes nothing', async () => {
    const { claimed } = await claim();
    world.pass(91 * 86_400);
    expect(await sweepEvents(world.service.deps)).toEqual({ died: 3, pruned: 0 });
    const now = world.service.deps.now();
    const failed = { state: 'pending', due_at: now, status: 500, answer: 'no' } as const;
    expect(await settleAs(claimed, failed)).toEqual([]);
    const rows = await db.selectFrom('webhook_delivery').select('state').execute();
    expect(rows.map(({ state }) => state)).toEqual(['dead', 'dead', 'dead']);
  });

  it('stands while it is sent, however old: what follows waits for the answer', async () => {
    world.pass(91 * 86_400);
    const { claimed } = await claim({ total: 1 });
    expect(await sweepEvents(world.service.deps)).toEqual({ died: 2, pruned: 0 });
    expect(await settleAs(claimed)).toHaveLength(1);
    const rows = await db.selectFrom('webhook_delivery').select('state').orderBy('sequence').execute();
    expect(rows.map(({ state }) => state)).toEqual(['delivered', 'dead', 'dead']);
  });

  it('stands when what was before it is replayed and ends: no other takes the delivery that is under way', async () => {
    const [first] = (await claim({ total: 1 })).claimed;
    await settleAs([first!], { state: 'dead' });
    expect((await claim()).claimed).toHaveLength(2);
    await replayDeliveries(world.service.deps, { deliveryId: `${first?.sequence}-${first?.webhook_id}` });
    const [again] = (await claim()).claimed;
    expect(again?.sequence).toBe(first?.sequence);
    await settleAs([again!]);
    expect((await claim()).claimed).toEqual([]);
  });

  it('of what was before it, replayed, leaves the wait after an attempt of its own', async () => {
    const [first] = (await claim({ total: 1 })).claimed;
    await settleAs([first!], { state: 'dead', status: 500 });
    const [, second] = (await claim()).claimed.toSorted((a, b) => Number(b.sequence - a.sequence));
    expect(second?.sequence).toBe(2n);
    const later = new Date(world.service.deps.now().getTime() + 3_600_000);
    await settleAs([second!], { state: 'pending', due_at: later, status: 500 });
    await replayDeliveries(world.service.deps, { deliveryId: `${first?.sequence}-${first?.webhook_id}` });
    const [again] = (await claim()).claimed;
    expect(again?.sequence).toBe(1n);
    await settleAs([again!]);
    expect((await claim()).claimed).toEqual([]);
    world.pass(3_601);
    expect((await claim()).claimed.map(({ sequence }) => sequence)).toContain(2n);
  });

  it('is needed to put a delivery off, too', async () => {
    const { claimed } = await claim();
    world.pass(31);
    const again = await claim();
    for (const lost of claimed) await releaseClaimUntil(db, lost, { until: world.service.deps.now(), error: 'no key' });
    expect(again.claimed).toHaveLength(2);
    expect(await world.countClaimed()).toBe(2);
  });

  it('is let go of also while the health of its endpoint cannot be recorded, which is made up for', async () => {
    const { deps } = world.service;
    const settled: unknown[] = [];
    // Its connections do not wait long for a lock.
    const settler = createSettler({ ...deps, db: deps.groupDb, queueDb: db }, (group) => settled.push(...group));
    const { claimed } = await claim();
    const failures = async () => (await db.selectFrom('webhook').select('failed_attempts').execute())[0];
    const trx = await db.startTransaction().execute();
    await sql`select from webhook for update`.execute(trx);
    addResult(settler, claimed[0], 500);
    await eventually(() => expect(settled).toEqual([claimed[0]]));
    await trx.commit().execute();
    expect(await failures()).toEqual({ failed_attempts: 0 });
    addResult(settler, claimed[1], 500);
    await eventually(() => expect(settled).toEqual(claimed));
    expect(await failures()).toEqual({ failed_attempts: 2 });
  });

  it('that was made before the endpoint failed ends its failures when it succeeds', async () => {
    const { deps } = world.service;
    const settled: unknown[] = [];
    const settler = createSettler({ ...deps, queueDb: db }, (group) => settled.push(...group));
    const { claimed } = await claim();
    const endpoint = db.selectFrom('webhook').select(['failed_attempts', 'first_failure_at']);
    addResult(settler, claimed[0], 422);
    await eventually(async () => expect(await endpoint.execute()).toMatchObject([{ failed_attempts: 1 }]));
    addResult(settler, claimed[1], 200);
    await eventually(async () =>
      expect(await endpoint.execute()).toEqual([{ failed_attempts: 0, first_failure_at: null }]),
    );
  });

  it('that another process has taken over says nothing of the endpoint', async () => {
    const { deps } = world.service;
    const settled: unknown[] = [];
    const settler = createSettler({ ...deps, queueDb: db }, (group) => settled.push(...group));
    const { claimed } = await claim();
    await db.updateTable('webhook_delivery').set({ claim_id: randomUUID() }).execute();
    addResult(settler, claimed[0], 410);
    await eventually(() => expect(settled).toEqual([claimed[0]]));
    const endpoints = await db.selectFrom('webhook').select(['state', 'failed_attempts']).execute();
    expect(endpoints).toEqual([{ state: 'enabled', failed_attempts: 0 }]);
  });

  it('that is given back is let go of once the results before it are written', async () => {
    const { deps } = world.service;
    const settled: (bigint | undefined)[][] = [];
    const settler = createSettler({ ...deps, queueDb: db }, (group) =>
      settled.push(group.map(({ sequence }) => sequence)),
    );
    const { claimed } = await claim();
    addResult(settler, claimed[0], 500);
    // While the first is being written.
    addResult(settler, claimed[1], 500);
    settler.giveBack([{ ...claimed[0]!, sequence: 2n }]);
    await settler.drain(5_000);
    expect(settled).toEqual([[claimed[0]?.sequence], [claimed[1]?.sequence], [2n]]);
  });

  it('is given up when the settler stops while the database is away', async () => {
    const queueDb = connectTo('postgres://127.0.0.1:9/');
    const settler = createSettler({ ...world.service.deps, queueDb }, () => {});
    const { claimed } = await claim();
    addResult(settler, claimed[0], 200);
    await settler.drain(0);
    const tries = () => world.logged('webhook results cannot be written; trying again');
    await eventually(() => expect(tries()).toHaveLength(1));
    // Longer than until it is tried again.
    await sleep(300);
    expect(tries()).toHaveLength(1);
    await queueDb.destroy();
  });

  it('counts what the process already holds of an endpoint', async () => {
    const { webhook_id } = await db.selectFrom('webhook').select('webhook_id').executeTakeFirstOrThrow();
    expect((await claim({ perEndpoint: 3, held: new Map([[webhook_id, 3]]) })).claimed).toHaveLength(0);
    expect((await claim({ perEndpoint: 3, held: new Map([[webhook_id, 2]]) })).claimed).toHaveLength(1);
    expect((await claim({ total: 0 })).claimed).toHaveLength(0);
  });

  it('may go beyond what is sent at once, but not of an endpoint that fails', async () => {
    const { webhook_id } = await db.selectFrom('webhook').select('webhook_id').executeTakeFirstOrThrow();
    const [held, ahead] = [new Map([[webhook_id, 3]]), new Map([[webhook_id, 1]])];
    expect((await claim({ perEndpoint: 3, held, ahead })).claimed).toHaveLength(1);
    await db.updateTable('webhook').set({ failed_attempts: 5 }).execute();
    expect((await claim({ perEndpoint: 3, held, ahead })).claimed).toHaveLength(0);
    expect((await claim({ perEndpoint: 3, ahead })).claimed).toHaveLength(1);
  });

  it('takes what has waited longest, of what was given back too', async () => {
    const one = { perEndpoint: 1, extraRows: 0 };
    const { claimed } = await claim(one);
    await releaseClaims(db, claimed, world.service.deps.now());
    const again = await claim(one);
    expect([claimed, again.claimed].flat().map(({ sequence }) => sequence)).toEqual([1n, 1n]);
  });

  it('that is given back can be had at once, and is left alone once another has it', async () => {
    const { claimed } = await claim();
    await releaseClaims(db, claimed, world.service.deps.now());
    const again = await claim();
    expect(again.claimed.map(({ sequence }) => sequence)).toEqual(claimed.map(({ sequence }) => sequence));
    await releaseClaims(db, claimed, world.service.deps.now());
    expect((await claim()).claimed).toEqual([]);
  });
});

it('a claim is given back for one endpoint, and stands for another that is sent the same event', async () => {
  for (let i = 0; i < 2; i++) await world.addEndpoint('http://127.0.0.1:9/');
  await world.grant('ann');
  const { claimed } = await claim();
  expect(claimed).toHaveLength(2);
  const given = claimed.slice(1);
  await releaseClaims(db, given, world.service.deps.now());
  const again = await claim();
  expect(again.claimed.map(({ webhook_id }) => webhook_id)).toEqual(given.map(({ webhook_id }) => webhook_id));
});

it('what becomes free goes to the endpoint of which the process holds fewest, however long another has waited', async () => {
  const busy = [await world.addEndpoint('http://127.0.0.1:9/'), await world.addEndpoint('http://127.0.0.1:9/')];
  for (let i = 0; i < 4; i++) {
    await world.addProfile(`p${i}`);
    await world.grant(`p${i}`);
  }
  expect((await claim({ total: 4 })).claimed).toHaveLength(4);
  const { webhook_id } = await world.addEndpoint('http://127.0.0.1:9/');
  await world.grant('ann');
  const held = new Map(busy.map((one, i) => [one.webhook_id, 2 - i]));
  const { claimed } = await claim({ total: 1, held });
  expect(claimed.map((one) => one.webhook_id)).toEqual([webhook_id]);
  // Then to the other of which it holds fewer.
  const next = await claim({ total: 1, held: new Map([...held, [webhook_id, 1]]) });
  expect(next.claimed.map((one) => one.webhook_id)).toEqual([busy[1]?.webhook_id]);
});

describe('a dispatcher', () => {
  it('renews the lease of what takes long, so that no other sends it too', async () => {
    const receiver = await world.receive(hanging);
    await world.addEndpoint(receiver.url);
    await world.grant('ann');
    for (let i = 0; i < 3; i++) world.dispatch({ leaseMs: 1_000, deadlineMs: 3_000 });
    await sleep(2_500);
    expect(receiver.received).toHaveLength(1);
  });

  it('sends what a process that died held, when its lease is over', async () => {
    const receiver = await world.receive();
    await world.addEndpoint(receiver.url);
    await world.grant('ann');
    await claim();
    world.dispatch();
    await sleep(200);
    expect(receiver.received).toHaveLength(0);
    world.pass(30);
    await eventually(() => expect(receiver.received).toHaveLength(1));
  });

  it('looks again in a moment at what waits behind a delivery that ends unseen, whatever else it sends meanwhile', async () => {
    const receiver = await world.receive();
    await world.addEndpoint(receiver.url);
    await world.grant('ann');
    await claim();
    await world.grant('ann');
    await world.grant('bob');
    world.dispatch({ pollMs: 60_000 });
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await sleep(100);
    // As if the statement that settles it had not met its successor.
    await db.updateTable('webhook_delivery').set({ state: 'delivered' }).where('claim_id', 'is not', null).execute();
    await eventually(() => expect(receiver.received).toHaveLength(2));
  });

  it('finishes what is under way when it stops, takes nothing more and leaves nothing claimed', async () => {
    const receiver = await world.receive((response) => {
      setTimeout(() => response.end(), 200);
    });
    await world.addEndpoint(receiver.url);
    for (let i = 0; i < 30; i++) {
      await world.addProfile(`p${i}`);
      await world.grant(`p${i}`);
    }
    const dispatcher = world.dispatch({ limits: { perEndpoint: 10 } });
    await eventually(() => expect(receiver.received).toHaveLength(10));
    await dispatcher.stop();
    await sleep(100);
    expect(receiver.received).toHaveLength(10);
    const rows = await db.selectFrom('webhook_delivery').select(['state', 'claim_id']).execute();
    expect(rows.filter(({ state }) => state === 'delivered')).toHaveLength(10);
    expect(rows.filter(({ claim_id }) => claim_id !== null)).toEqual([]);
  });

  it('lets the event loop turn after each hundred that it begins', async () => {
    await world.addEndpoint('http://receiver.test/');
    const events = Array.from({ length: 250 }, () => ({
      event_id: randomUUID(),
      event_type: 'access_level_updated' as const,
      profile_id: randomUUID(),
      customer_user_id: null,
      payload: {},
    }));
    await recordEvents(db, world.service.app, events);
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

  it('holds more of an endpoint that takes them fast, never sends more at once, and gives back what waits when one fails or it stops', async () => {
    let underway = 0;
    let most = 0;
    let count = 0;
    const receiver = await world.receive((response) => {
      most = Math.max(most, ++underway);
      const place = ++count;
      const end = () => {
        underway--;
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
    expect(most).toBe(2);
    expect(await world.countClaimed()).toBe(0);
    const rows = await db.selectFrom('webhook_delivery').select(['state', 'attempts']).execute();
    expect(rows.filter(({ attempts }) => attempts === 1)).toHaveLength(receiver.received.length);
    expect(rows.filter(({ state }) => state === 'delivered')).toHaveLength(receiver.received.length - 1);
  });

  it('sends nothing whose lease ended while it waited for its turn: another process has it', async () => {
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
    expect((await claim()).claimed.length).toBeGreaterThan(1);
    answerLast();
    await sleep(100);
    expect(receiver.received).toHaveLength(8);
  });

  it('is woken by a grant of any process; polling is only behind it', async () => {
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
