// Order per profile and endpoint, bounded concurrency, and that a slow endpoint delays only itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RETRY_WAITS_S } from '../../src/webhooks/schedule.ts';
import { answering, type Behaviour, hanging } from './receiver.ts';
import { createWorld, eventually, type World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await createWorld();
});

afterEach(async () => {
  await world.close();
});

function startsOf(
  events: { customer_user_id: string; event_properties: { starts_at: string } }[],
  name: string,
): number[] {
  return events
    .filter(({ customer_user_id }) => customer_user_id === name)
    .map(({ event_properties }) => Number(event_properties.starts_at.slice(14, 16)));
}

const minute = (n: number) => ({ starts_at: `2025-01-01T00:${String(n).padStart(2, '0')}:00Z` });

it('a later event waits while an earlier one is pending; those of other profiles and endpoints do not', async () => {
  const [failing, healthy] = [await world.receive(answering(500)), await world.receive()];
  await world.addEndpoint(failing.url);
  await world.addEndpoint(healthy.url);
  await world.addProfile('ann');
  await world.addProfile('bob');
  for (const n of [0, 1, 2]) await world.grant('ann', minute(n));
  await world.grant('bob', minute(0));
  world.dispatch();
  await eventually(() => expect(healthy.received).toHaveLength(4));
  await eventually(() => expect(failing.received).toHaveLength(2));
  await sleep(400);
  expect(startsOf(failing.events(), 'ann')).toEqual([0]);
  expect(startsOf(failing.events(), 'bob')).toEqual([0]);
  expect(startsOf(healthy.events(), 'ann')).toEqual([0, 1, 2]);
  failing.behave(answering(200));
  world.pass(5);
  await eventually(() => expect(startsOf(failing.events(), 'ann')).toEqual([0, 0, 1, 2]));
});

it('a dead delivery lets the next one go', async () => {
  const receiver = await world.receive((response, { body }) => {
    const isFirst = JSON.parse(body).event_properties.starts_at.includes('T00:00');
    response.writeHead(isFirst ? 500 : 200).end();
  });
  await world.addEndpoint(receiver.url);
  await world.addProfile('ann');
  for (const n of [0, 1, 2]) await world.grant('ann', minute(n));
  world.dispatch();
  for (const [i, wait] of RETRY_WAITS_S.entries()) {
    await eventually(async () => expect((await world.feed()).data[2].deliveries[0].attempts).toBe(i + 1));
    world.pass(wait);
  }
  await eventually(() => expect(startsOf(receiver.events(), 'ann').slice(9)).toEqual([0, 1, 2]));
  // A delivery is settled a moment after its receiver has answered.
  await eventually(async () => {
    const states = (await world.feed()).data.map(
      (event: { deliveries: { state: string }[] }) => event.deliveries[0]?.state,
    );
    expect(states).toEqual(['delivered', 'delivered', 'dead']);
  });
});

it('a burst for one profile stays in order with several dispatchers, without waiting for polls', {
  timeout: 40_000,
}, async () => {
  const receiver = await world.receive();
  await world.addEndpoint(receiver.url);
  await world.addProfile('ann');
  for (let i = 0; i < 3; i++) world.dispatch({ pollMs: 1_000 });
  await sleep(50);
  const started = performance.now();
  for (let n = 0; n < 40; n++) await world.grant('ann', minute(n));
  await eventually(() => expect(receiver.received).toHaveLength(40));
  expect(startsOf(receiver.events(), 'ann')).toEqual(Array.from({ length: 40 }, (_, n) => n));
  expect(performance.now() - started).toBeLessThan(20_000);
});

/** Holds every request until the gate is opened. `waiting` lists all that were held: its length is the concurrency. */
function gate(status: number) {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const behaviour: Behaviour = (response) => {
    const answer = () => response.writeHead(status).end();
    if (isOpen) answer();
    else waiting.push(answer);
  };
  const open = () => {
    isOpen = true;
    for (const answer of waiting) answer();
  };
  return { waiting, behaviour, open };
}

it('only so many are sent to an endpoint concurrently, fewer to one that keeps failing, and only so many in all', async () => {
  const [well, other, ailing] = [gate(200), gate(200), gate(500)];
  const gates = [well, other, ailing];
  const endpoints = [];
  for (const { behaviour } of gates) endpoints.push(await world.addEndpoint((await world.receive(behaviour)).url));
  for (let i = 0; i < 40; i++) await world.addProfile(`p${i}`);
  const failures = { failed_attempts: 5, first_failure_at: new Date().toISOString() };
  await world.service.deps.db
    .updateTable('webhook')
    .set(failures)
    .where('webhook_id', '=', endpoints[2]?.webhook_id ?? '')
    .execute();
  for (let i = 0; i < 40; i++) await world.grant(`p${i}`);
  const sent = () => gates.map(({ waiting }) => waiting.length);

  const first = world.dispatch({ limits: { perEndpoint: 6, total: 100, ailingAfter: 5, ailingSlots: 2 } });
  await eventually(() => expect(sent()).toEqual([6, 6, 2]));
  await sleep(200);
  expect(sent()).toEqual([6, 6, 2]);
  for (const { open } of gates) open();
  await first.stop();

  const limited = [gate(200), gate(200)];
  for (const { behaviour } of limited) await world.addEndpoint((await world.receive(behaviour)).url);
  for (let i = 0; i < 40; i++) await world.grant(`p${i}`);
  await world.service.deps.db
    .updateTable('webhook')
    .set({ state: 'disabled' })
    .where(
      'webhook_id',
      'in',
      endpoints.map(({ webhook_id }) => webhook_id),
    )
    .execute();
  world.dispatch({ limits: { perEndpoint: 6, total: 10 } });
  await eventually(() => expect(limited.map(({ waiting }) => waiting.length)).toEqual([5, 5]));
  await sleep(200);
  expect(limited.map(({ waiting }) => waiting.length)).toEqual([5, 5]);
  for (const { open } of limited) open();
});

it('an endpoint that hangs does not slow another: its median stays under 100 ms', async () => {
  const [slow, quick] = [await world.receive(hanging), await world.receive()];
  await world.addEndpoint(slow.url);
  await world.addEndpoint(quick.url);
  for (let i = 0; i < 40; i++) await world.addProfile(`p${i}`);
  world.dispatch({ pollMs: 1_000 });
  await sleep(50);
  const latencies: number[] = [];
  for (let i = 0; i < 120; i++) {
    await world.grant(`p${i % 40}`);
    const answered = performance.now();
    await eventually(() => expect(quick.received).toHaveLength(i + 1));
    latencies.push((quick.received[i]?.at ?? Number.NaN) - answered);
  }
  expect(slow.received.length).toBeGreaterThanOrEqual(32);
  latencies.sort((x, y) => x - y);
  expect(latencies[60]).toBeLessThan(100);
});
