// The results of attempts on their way to the queue, and what they say about the endpoint: in groups, one after the
// other, until all are written.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { settlementOf } from '../../src/webhooks/outcome.ts';
import type { Claimed } from '../../src/webhooks/queue.ts';
import { openQueuePool } from '../../src/webhooks/queue-pool.ts';
import { createSettler, type Settler } from '../../src/webhooks/settler.ts';
import { connectTo } from '../db/one-connection.ts';
import { POOL } from '../setup/database.ts';
import { claimIn } from './claiming.ts';
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
  await world.addEndpoint('http://127.0.0.1:9/');
  await world.grant('ann');
  await world.grant('ann');
  await world.grant('bob');
});

/** Adds the result of an attempt that was answered with this status. */
function addResult(settler: Settler, delivery: Claimed | undefined, status: number): void {
  const attempt = { status, error: null, response: null, retryAfterS: 0, seconds: 0 };
  settler.add(delivery!, settlementOf(delivery!, attempt, { at: world.service.deps.now(), random: 0.5 }));
}

describe('a claim', () => {
  it('is released even while the health of its endpoint cannot be recorded, which is made up for later', async () => {
    const { deps } = world.service;
    const settled: unknown[] = [];
    // Connections of `groupDb` do not wait long for a lock.
    const settler = createSettler({ ...deps, queueDb: deps.groupDb }, (group) => settled.push(...group));
    const { claimed } = await claimIn(world);
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

  it('is released, and the health of its endpoint recorded, while requests use all their connections', async () => {
    const { deps, database } = world.service;
    const queueDb = openQueuePool(database.url, deps.log);
    const settled: unknown[] = [];
    const settler = createSettler({ ...deps, queueDb }, (group) => settled.push(...group));
    const { claimed } = await claimIn(world);
    const requests = await Promise.all(Array.from({ length: POOL }, () => db.startTransaction().execute()));
    addResult(settler, claimed[0], 500);
    // A connection is waited for longer than this.
    await vi
      .waitFor(() => expect(settled).toEqual([claimed[0]]), 4_000)
      .finally(() => Promise.all(requests.map((one) => one.rollback().execute())));
    expect(await queueDb.selectFrom('webhook').select('failed_attempts').execute()).toEqual([{ failed_attempts: 1 }]);
    await queueDb.destroy();
  });

  it('that was made before the endpoint failed ends its failures when it succeeds', async () => {
    const { deps } = world.service;
    const settled: unknown[] = [];
    const settler = createSettler({ ...deps, queueDb: db }, (group) => settled.push(...group));
    const { claimed } = await claimIn(world);
    const endpoint = db.selectFrom('webhook').select(['failed_attempts', 'first_failure_at']);
    addResult(settler, claimed[0], 422);
    await eventually(async () => expect(await endpoint.execute()).toMatchObject([{ failed_attempts: 1 }]));
    addResult(settler, claimed[1], 200);
    await eventually(async () =>
      expect(await endpoint.execute()).toEqual([{ failed_attempts: 0, first_failure_at: null }]),
    );
  });

  it('that another process has taken over says nothing about the endpoint', async () => {
    const { deps } = world.service;
    const settled: unknown[] = [];
    const settler = createSettler({ ...deps, queueDb: db }, (group) => settled.push(...group));
    const { claimed } = await claimIn(world);
    await db.updateTable('webhook_delivery').set({ claim_id: randomUUID() }).execute();
    addResult(settler, claimed[0], 410);
    await eventually(() => expect(settled).toEqual([claimed[0]]));
    const endpoints = await db.selectFrom('webhook').select(['state', 'failed_attempts']).execute();
    expect(endpoints).toEqual([{ state: 'enabled', failed_attempts: 0 }]);
  });

  it('that is given back is released once the results before it are written', async () => {
    const { deps } = world.service;
    const settled: (bigint | undefined)[][] = [];
    const settler = createSettler({ ...deps, queueDb: db }, (group) =>
      settled.push(group.map(({ sequence }) => sequence)),
    );
    const { claimed } = await claimIn(world);
    addResult(settler, claimed[0], 500);
    // While the first is being written.
    addResult(settler, claimed[1], 500);
    settler.giveBack([{ ...claimed[0]!, sequence: 2n }]);
    await settler.drain(5_000);
    expect(settled).toEqual([[claimed[0]?.sequence], [claimed[1]?.sequence], [2n]]);
  });

  it('is given up if the settler stops while the database is away', async () => {
    const queueDb = connectTo('postgres://127.0.0.1:9/');
    const settler = createSettler({ ...world.service.deps, queueDb }, () => {});
    const { claimed } = await claimIn(world);
    addResult(settler, claimed[0], 200);
    await settler.drain(0);
    const tries = () => world.logged('cannot write webhook results; retrying');
    await eventually(() => expect(tries()).toHaveLength(1));
    // Longer than the pause before the next try.
    await sleep(300);
    expect(tries()).toHaveLength(1);
    await queueDb.destroy();
  });
});
