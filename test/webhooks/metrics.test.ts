// The figures at /metrics: per app, without addresses or secrets.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { disableWebhook, listWebhooks, removeWebhook } from '../../src/webhooks/endpoints.ts';
import { webhookMetrics } from '../../src/webhooks/metrics.ts';
import { RETRY_WAITS_S } from '../../src/webhooks/schedule.ts';
import { answering } from './receiver.ts';
import { createWorld, eventually, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld();
  await world.addProfile('ann');
});

afterAll(async () => {
  await world.close();
});

async function figures(): Promise<Record<string, number>> {
  const text = await webhookMetrics(world.service.deps);
  const lines = text.split('\n').filter((line) => line && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at).replace(`app_id="${world.service.appId}"`, 'app'), Number(line.slice(at + 1))];
    }),
  );
}

/**
 * Expects an age in seconds of at least `min`, of something that has waited since `earliest` or later: how long ago
 * that is depends on the machine.
 */
function expectAge(age: number | undefined, min: number, earliest: Date): void {
  expect(age).toBeGreaterThanOrEqual(min);
  expect(age).toBeLessThanOrEqual((world.service.deps.now().getTime() - earliest.getTime()) / 1_000);
}

it('pending deliveries and their age, attempts by result, and the duration of attempts are counted', async () => {
  const receiver = await world.receive();
  const { webhook_id, secret } = await world.addEndpoint(receiver.url, { authorization: 'Bearer hidden' });
  const granted = world.service.deps.now();
  await world.grant('ann');
  await world.grant('ann');
  world.pass(100);
  const pending = await figures();
  expect(pending['sps_webhook_pending{app,endpoint_state="enabled"}']).toBe(2);
  expectAge(pending['sps_webhook_oldest_pending_seconds{app,endpoint_state="enabled"}'], 100, granted);

  world.dispatch();
  await eventually(async () => expect((await figures())['sps_webhook_attempts_total{app,result="delivered"}']).toBe(2));
  receiver.behave(answering(500));
  await world.grant('ann');
  await eventually(async () => expect((await figures())['sps_webhook_attempts_total{app,result="failed"}']).toBe(1));
  const { db } = world.service.deps;
  await db
    .updateTable('webhook_delivery')
    .set({ attempts: RETRY_WAITS_S.length })
    .where('state', '=', 'pending')
    .execute();
  world.pass(5);
  await eventually(async () => expect((await figures())['sps_webhook_attempts_total{app,result="dead"}']).toBe(1));
  expect(await figures()).toMatchObject({
    'sps_webhook_pending{app,endpoint_state="enabled"}': 0,
    'sps_webhook_oldest_pending_seconds{app,endpoint_state="enabled"}': 0,
    'sps_webhook_dead{app}': 1,
    'sps_webhook_attempt_seconds_count{app}': 4,
  });

  await disableWebhook(world.service.deps, webhook_id);
  expect(Object.keys(await figures())).not.toContain('sps_webhook_pending{app,endpoint_state="enabled"}');
  const text = await webhookMetrics(world.service.deps);
  for (const hidden of [receiver.url, '127.0.0.1', secret, 'hidden', webhook_id]) expect(text).not.toContain(hidden);
});

it('up to 100,000 deliveries of an endpoint are counted, and the oldest of them is known', async () => {
  const { webhook_id } = await world.addEndpoint('https://example.com/hook');
  onTestFinished(async () => {
    await removeWebhook(world.service.deps, webhook_id);
  });
  await disableWebhook(world.service.deps, webhook_id);
  const { db, now } = world.service.deps;
  const begun = now().getTime();
  for (const state of ['pending', 'dead']) {
    await sql`
      insert into webhook_delivery (sequence, webhook_id, profile_id, state, due_at, queued_at)
      select 1000000 + g + ${state === 'dead' ? 200_000 : 0}, ${webhook_id}, gen_random_uuid(), ${state},
        due, due from generate_series(1, 100010) g, lateral (select ${now()}::timestamptz - g * interval '10 ms' as due) moment
    `.execute(db);
  }
  const counted = await figures();
  expect(counted['sps_webhook_pending{app,endpoint_state="disabled"}']).toBe(100_000);
  expectAge(
    counted['sps_webhook_oldest_pending_seconds{app,endpoint_state="disabled"}'],
    1_000,
    new Date(begun - 1_000_100),
  );
  expect(await listWebhooks(world.service.deps)).toContainEqual(
    expect.objectContaining({ webhook_id, pending: 100_000, dead: 100_000 }),
  );
});
