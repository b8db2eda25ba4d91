// Claims from the queue: what is taken and in which order, how long it is held, and how it is released.
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { disableWebhook, enableWebhook } from '../../src/webhooks/endpoints.ts';
import {
  type Claimed,
  type ClaimRequest,
  releaseClaims,
  releaseClaimUntil,
  renewLeases,
  type Settlement,
  settle,
} from '../../src/webhooks/queue.ts';
import { replayDeliveries } from '../../src/webhooks/replay.ts';
import { sweepEvents } from '../../src/webhooks/retention.ts';
import { claimIn } from './claiming.ts';
import { useWorld, type World } from './world.ts';

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

const claim = (changes?: Partial<ClaimRequest>) => claimIn(world, changes);

/** Settles the attempts as delivered, but for the given changes. */
function settleAs(deliveries: readonly Claimed[], changes: Partial<Settlement> = {}) {
  const now = world.service.deps.now();
  const delivered = { state: 'delivered', due_at: null, status: 200, error: null, response: 'ok' } as const;
  const settlements = deliveries.map(({ sequence, webhook_id, claim_id }): Settlement => {
    return { sequence, webhook_id, claim_id, attempted_at: now, ...delivered, ...changes };
  });
  return settle(db, settlements, now);
}

describe('a claim', () => {
  beforeEach(async () => {
    await world.addEndpoint('http://127.0.0.1:9/');
    await world.grant('ann');
    await world.grant('ann');
    await world.grant('bob');
  });

  it('takes the first delivery of each profile, once', async () => {
    const { claimed, putOff } = await claim();
    expect([claimed.length, putOff]).toEqual([2, 1]);
    expect(await claim()).toEqual({ claimed: [], putOff: 0 });
  });

  it('is divided among claims at the same moment', async () => {
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim()));
    const sequences = claims.flatMap(({ claimed }) => claimed.map(({ sequence }) => sequence));
    expect(sequences.length).toBe(new Set(sequences).size);
    expect(sequences.length).toBeGreaterThanOrEqual(1);
  });

  it('ends with its lease, unless the lease is renewed', async () => {
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

  it('stands when its endpoint is disabled and enabled: what is in progress is not sent twice', async () => {
    const { claimed } = await claim();
    const [{ webhook_id }] = claimed as [(typeof claimed)[0]];
    await disableWebhook(world.service.deps, webhook_id);
    await enableWebhook(world.service.deps, webhook_id);
    expect((await claim()).claimed).toEqual([]);
  });

  it('is needed to settle: a process that lost it changes nothing', async () => {
    const { claimed } = await claim();
    world.pass(31);
    const again = await claim();
    expect(await settleAs(claimed)).toEqual([]);
    expect(await settleAs(again.claimed)).toHaveLength(2);
    expect(await settleAs(again.claimed)).toEqual([]);
    const [successor] = (await claim()).claimed;
    expect(successor?.sequence).toBe(2n);
  });

  it('ends when its delivery dies of age, and the result of the attempt changes nothing', async () => {
    const { claimed } = await claim();
    world.pass(91 * 86_400);
    expect(await sweepEvents(world.service.deps)).toEqual({ died: 3, pruned: 0 });
    const now = world.service.deps.now();
    const failed = { state: 'pending', due_at: now, status: 500, response: 'no' } as const;
    expect(await settleAs(claimed, failed)).toEqual([]);
    const rows = await db.selectFrom('webhook_delivery').select('state').execute();
    expect(rows.map(({ state }) => state)).toEqual(['dead', 'dead', 'dead']);
  });

  it('stands while its delivery is sent, however old: what follows waits for the response', async () => {
    world.pass(91 * 86_400);
    const { claimed } = await claim({ total: 1 });
    expect(await sweepEvents(world.service.deps)).toEqual({ died: 2, pruned: 0 });
    expect(await settleAs(claimed)).toHaveLength(1);
    const rows = await db.selectFrom('webhook_delivery').select('state').orderBy('sequence').execute();
    expect(rows.map(({ state }) => state)).toEqual(['delivered', 'dead', 'dead']);
  });

  it('stands when an earlier delivery is replayed and ends: no other process takes the delivery in progress', async () => {
    const [first] = (await claim({ total: 1 })).claimed;
    await settleAs([first!], { state: 'dead' });
    expect((await claim()).claimed).toHaveLength(2);
    await replayDeliveries(world.service.deps, { deliveryId: `${first?.sequence}-${first?.webhook_id}` });
    const [again] = (await claim()).claimed;
    expect(again?.sequence).toBe(first?.sequence);
    await settleAs([again!]);
    expect((await claim()).claimed).toEqual([]);
  });

  it('of an earlier, replayed delivery keeps the wait of a later one after an attempt of its own', async () => {
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

  it('is also needed to put a delivery off', async () => {
    const { claimed } = await claim();
    world.pass(31);
    const again = await claim();
    for (const lost of claimed) await releaseClaimUntil(db, lost, { until: world.service.deps.now(), error: 'no key' });
    expect(again.claimed).toHaveLength(2);
    expect(await world.countClaimed()).toBe(2);
  });

  it('counts what the process already holds of an endpoint', async () => {
    const { webhook_id } = await db.selectFrom('webhook').select('webhook_id').executeTakeFirstOrThrow();
    expect((await claim({ perEndpoint: 3, held: new Map([[webhook_id, 3]]) })).claimed).toHaveLength(0);
    expect((await claim({ perEndpoint: 3, held: new Map([[webhook_id, 2]]) })).claimed).toHaveLength(1);
    expect((await claim({ total: 0 })).claimed).toHaveLength(0);
  });

  it('may exceed what is sent concurrently, but not for an endpoint that fails', async () => {
    const { webhook_id } = await db.selectFrom('webhook').select('webhook_id').executeTakeFirstOrThrow();
    const [held, ahead] = [new Map([[webhook_id, 3]]), new Map([[webhook_id, 1]])];
    expect((await claim({ perEndpoint: 3, held, ahead })).claimed).toHaveLength(1);
    await db.updateTable('webhook').set({ failed_attempts: 5 }).execute();
    expect((await claim({ perEndpoint: 3, held, ahead })).claimed).toHaveLength(0);
    expect((await claim({ perEndpoint: 3, ahead })).claimed).toHaveLength(1);
  });

  it('takes what has waited longest, including what was given back', async () => {
    const one = { perEndpoint: 1, extraRows: 0 };
    const { claimed } = await claim(one);
    await releaseClaims(db, claimed, world.service.deps.now());
    const again = await claim(one);
    expect([claimed, again.claimed].flat().map(({ sequence }) => sequence)).toEqual([1n, 1n]);
  });

  it('that is given back can be taken immediately, and is left alone once another process has it', async () => {
    const { claimed } = await claim();
    await releaseClaims(db, claimed, world.service.deps.now());
    const again = await claim();
    expect(again.claimed.map(({ sequence }) => sequence)).toEqual(claimed.map(({ sequence }) => sequence));
    await releaseClaims(db, claimed, world.service.deps.now());
    expect((await claim()).claimed).toEqual([]);
  });
});

it('a claim is given back for one endpoint, and stands for another endpoint that is sent the same event', async () => {
  for (let i = 0; i < 2; i++) await world.addEndpoint('http://127.0.0.1:9/');
  await world.grant('ann');
  const { claimed } = await claim();
  expect(claimed).toHaveLength(2);
  const given = claimed.slice(1);
  await releaseClaims(db, given, world.service.deps.now());
  const again = await claim();
  expect(again.claimed.map(({ webhook_id }) => webhook_id)).toEqual(given.map(({ webhook_id }) => webhook_id));
});

it('free places go to the endpoint of which the process holds fewest, however long another one has waited', async () => {
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
  // Then to whichever of the other two it holds fewer of.
  const next = await claim({ total: 1, held: new Map([...held, [webhook_id, 1]]) });
  expect(next.claimed.map((one) => one.webhook_id)).toEqual([busy[1]?.webhook_id]);
});
