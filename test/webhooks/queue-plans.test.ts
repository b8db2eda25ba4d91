// The queue's statements keep their plans, which may have been made while the queue was empty.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { claimDue, type Settlement, settle } from '../../src/webhooks/queue.ts';
import { openQueuePool } from '../../src/webhooks/queue-pool.ts';
import { createWorld } from './world.ts';

it('a claim and its settlement read no more than their batch, even if the queue was vacuumed while it was empty', async () => {
  const world = await createWorld();
  const { db, log, now } = world.service.deps;
  const queueDb = openQueuePool(world.service.database.url, log);

  async function deliverDue(): Promise<number> {
    const leaseUntil = new Date(now().getTime() + 30_000);
    const limits = { total: 100, perEndpoint: 32, ailingAfter: 5, ailingSlots: 2, extraRows: 0 };
    const request = { ...limits, now: now(), leaseUntil, claimId: randomUUID(), held: new Map(), ahead: new Map() };
    const { claimed } = await claimDue(queueDb, request);
    const settlements = claimed.map(({ sequence, webhook_id, claim_id }): Settlement => {
      const result = { state: 'delivered', due_at: null, status: 200, error: null, response: null } as const;
      return { sequence, webhook_id, claim_id, attempted_at: now(), ...result };
    });
    return (await settle(queueDb, settlements, now())).length;
  }

  async function countRead(): Promise<number> {
    await sql`select pg_stat_force_next_flush()`.execute(queueDb);
    const { rows } = await sql<{ read: number }>`
      select sum(seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_user_tables
      where relname in ('webhook_delivery', 'webhook_event')`.execute(queueDb);
    return rows[0]?.read ?? Number.NaN;
  }

  await world.addEndpoint('http://127.0.0.1:9/');
  await world.addProfile('ann');
  await sql`vacuum analyze webhook_delivery, webhook_event`.execute(db);
  expect(await deliverDue()).toBe(0);

  await sql`
    insert into webhook_delivery (sequence, webhook_id, profile_id, state)
    select -number, gen_random_uuid(), gen_random_uuid(), 'delivered' from generate_series(1, 5000) as number`.execute(
    db,
  );
  await world.grant('ann');
  const before = await countRead();
  expect(await deliverDue()).toBe(1);
  expect((await countRead()) - before).toBeLessThan(100);

  await queueDb.destroy();
  await world.close();
});
