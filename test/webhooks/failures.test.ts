// How every kind of failure ends (decisions.md 7), with a clock that the test moves.
import { beforeEach, describe, expect, it } from 'vitest';
import { listWebhooks, resumeWebhook } from '../../src/webhooks/endpoints.ts';
import { listDeliveries } from '../../src/webhooks/replay.ts';
import { RETRY_WAITS_S } from '../../src/webhooks/schedule.ts';
import { answering, type Behaviour, dropping, hanging, type Receiver } from './receiver.ts';
import { eventually, useWorld, type World } from './world.ts';

let world: World;
let receiver: Receiver;
let webhookId: string;

useWorld((made) => {
  world = made;
});

beforeEach(async () => {
  receiver = await world.receive();
  await world.addProfile('ann');
  ({ webhook_id: webhookId } = await world.addEndpoint(receiver.url));
});

async function delivery() {
  return (await world.feed()).data[0].deliveries[0];
}

async function attempted(times: number): Promise<void> {
  await eventually(async () => expect((await delivery()).attempts).toBe(times));
}

async function endpoint() {
  const [row] = await listWebhooks(world.service.deps);
  return row as NonNullable<typeof row>;
}

/** Lets a failing delivery go through its whole schedule. */
async function failUntilDead(): Promise<void> {
  for (const [i, wait] of RETRY_WAITS_S.entries()) {
    await attempted(i + 1);
    world.pass(wait);
  }
  await attempted(RETRY_WAITS_S.length + 1);
}

/** As Pino writes them. */
const LEVEL = { info: 30, warn: 40 };

const BEHAVIOURS: [string, Behaviour, number | null, RegExp | null][] = [
  ['500', answering(500, 'oops'), 500, null],
  ['429', answering(429), 429, null],
  ['301', answering(301, '', { location: 'https://example.com/' }), 301, null],
  ['hanging', hanging, null, /no complete response within 0.2 s/],
  ['dropping the connection', dropping, null, /UND_ERR_SOCKET/],
];

describe.each(BEHAVIOURS)('an endpoint that answers by %s', (_words, behaviour, status, error) => {
  it('is tried ten times on schedule; then the delivery is dead and kept', async () => {
    receiver.behave(behaviour);
    await world.grant('ann');
    world.dispatch({ deadlineMs: behaviour === hanging ? 200 : 5_000 });
    await attempted(1);
    const { state, last_status, next_attempt_at } = await delivery();
    expect({ state, last_status }).toEqual({ state: 'pending', last_status: status });
    expect(Date.parse(next_attempt_at.replace('+0000', 'Z')) - Date.now()).toBeGreaterThan(3_000);
    await failUntilDead();
    expect(receiver.received).toHaveLength(10);
    expect(await delivery()).toMatchObject({ state: 'dead', attempts: 10, last_status: status, next_attempt_at: null });
    const row = await world.service.deps.db.selectFrom('webhook_delivery').selectAll().executeTakeFirstOrThrow();
    if (error) expect(row.last_error).toMatch(error);
    else expect(row.last_error).toBeNull();
    const event_id = receiver.received[0]?.headers['webhook-id'];
    const details = { app_id: world.service.appId, webhook_id: webhookId, event_id, status, error: row.last_error };
    await eventually(() =>
      expect(world.logged('webhook delivery is dead')).toMatchObject([{ level: LEVEL.warn, ...details }]),
    );
    const failed = world.logged('webhook attempt failed');
    expect(failed).toHaveLength(9);
    expect(failed[0]).toMatchObject({ level: LEVEL.info, ...details, next_attempt_at: expect.any(String) });
    expect((await endpoint()).state).toBe('enabled');
  });
});

it('a retry waits at least as long as the schedule says, with the same webhook-id and a new timestamp each time', async () => {
  receiver.behave(answering(500));
  await world.grant('ann');
  world.dispatch();
  await attempted(1);
  world.pass(2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(receiver.received).toHaveLength(1);
  world.pass(3);
  await attempted(2);
  receiver.behave(answering(200));
  world.pass(30);
  await attempted(3);
  expect(await delivery()).toMatchObject({ state: 'delivered', last_status: 200 });
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
});

it('a retry waits longer if Retry-After says so, an hour at most', async () => {
  receiver.behave(answering(429, '', { 'retry-after': '600' }));
  await world.grant('ann');
  world.dispatch();
  await attempted(1);
  world.pass(590);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(receiver.received).toHaveLength(1);
  receiver.behave(answering(503, '', { 'retry-after': '86400' }));
  world.pass(11);
  await attempted(2);
  world.pass(3601);
  await attempted(3);
});

it('410 suspends the endpoint immediately; its deliveries wait, more are written, and all go out when it is resumed', async () => {
  receiver.behave(answering(410));
  await world.grant('ann');
  const dispatcher = world.dispatch();
  await attempted(1);
  await eventually(async () => expect((await endpoint()).state).toBe('suspended'));
  expect((await endpoint()).state_reason).toBe('answered 410 Gone');
  const details = { app_id: world.service.appId, webhook_id: webhookId, reason: 'answered 410 Gone' };
  await eventually(() =>
    expect(world.logged('webhook endpoint suspended')).toMatchObject([{ level: LEVEL.warn, ...details }]),
  );
  await world.grant('ann');
  receiver.behave(answering(200));
  world.pass(86_400);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(receiver.received).toHaveLength(1);
  const waiting = { state: 'pending', next_attempt_at: null };
  const { data } = await world.feed();
  expect(data.map(({ deliveries }: { deliveries: unknown[] }) => deliveries[0])).toMatchObject([waiting, waiting]);
  expect(await listDeliveries(world.service.deps, webhookId)).toMatchObject([waiting, waiting]);
  await resumeWebhook(world.service.deps, webhookId);
  await eventually(() => expect(receiver.received).toHaveLength(3));
  await dispatcher.stop();
  expect(await endpoint()).toMatchObject({
    state: 'enabled',
    state_reason: 'resumed by the operator',
    failed_attempts: 0,
  });
});

describe('five days of nothing but failures', () => {
  const DAY = 86_400;

  it('suspend the endpoint after at least ten attempts', async () => {
    receiver.behave(answering(500));
    await world.grant('ann');
    world.dispatch();
    await failUntilDead();
    world.pass(4 * DAY);
    await world.grant('ann');
    await attempted(1);
    await eventually(async () => expect((await endpoint()).failed_attempts).toBe(11));
    expect((await endpoint()).state).toBe('enabled');
    world.pass(DAY / 2);
    await eventually(async () => expect((await endpoint()).state).toBe('suspended'));
    expect((await endpoint()).state_reason).toBe('nothing but failures for 5 days');
  });

  it('do not suspend it with fewer attempts, nor with a success in between', async () => {
    receiver.behave(answering(500));
    await world.grant('ann');
    world.dispatch();
    await attempted(1);
    world.pass(6 * DAY);
    await attempted(2);
    await eventually(async () => expect((await endpoint()).failed_attempts).toBe(2));
    expect((await endpoint()).state).toBe('enabled');
    receiver.behave(answering(200));
    world.pass(DAY);
    await attempted(3);
    await eventually(async () =>
      expect(await endpoint()).toMatchObject({ failed_attempts: 0, first_failure_at: null }),
    );
  });
});

it('an endpoint that fails three times in ten gets everything in the end, in order', { timeout: 60_000 }, async () => {
  const people = ['bob', 'cid', 'dan', 'eve'];
  for (const name of people) await world.addProfile(name);
  let n = 0;
  receiver.behave((response, received) => {
    n += 1;
    const isFailing = (n * 7919) % 10 < 3;
    response.writeHead(isFailing ? 500 : 200).end();
    if (!isFailing) accepted.add(received.body);
  });
  const accepted = new Set<string>();
  for (let i = 0; i < 10; i++)
    await Promise.all(people.map((name) => world.grant(name, { starts_at: `2025-01-01T00:00:0${i}Z` })));
  world.dispatch();
  await eventually(async () => {
    // Not while a delivery is under way: on a slow machine its lease would expire again and again.
    if ((await world.countClaimed()) === 0) world.pass(5);
    expect(accepted.size).toBe(40);
  });
  expect(n).toBeGreaterThan(50);
  for (const name of people) {
    const starts = [...accepted]
      .map((body) => JSON.parse(body))
      .filter(({ customer_user_id }) => customer_user_id === name)
      .map(({ event_properties }) => event_properties.starts_at.slice(18, 19));
    expect(starts).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  }
});
