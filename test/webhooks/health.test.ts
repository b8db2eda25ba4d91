// When the service stops sending to an endpoint (decisions.md 7), to the attempt.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { disableWebhook, resumeWebhook } from '../../src/webhooks/endpoints.ts';
import { type AttemptOutcome, recordHealth, summariseHealth } from '../../src/webhooks/health.ts';
import { createWorld, type World } from './world.ts';

let world: World;
let webhookId: string;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  webhookId = (await world.addEndpoint(ADDRESS)).webhook_id;
});

const ADDRESS = 'http://127.0.0.1:9/';
const BEGAN = new Date('2025-01-01T00:00:00Z');
const FIVE_DAYS_LATER = new Date('2025-01-06T00:00:00Z');

function outcome(changes: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return {
    webhook_id: webhookId,
    url: ADDRESS,
    authorization_value: null,
    succeeded: false,
    status: 500,
    at: BEGAN,
    ...changes,
  };
}

/** Records the attempts as one batch and returns the endpoint as it is then. */
async function endpointAfter(outcomes: readonly AttemptOutcome[]) {
  const { db } = world.service.deps;
  await recordHealth(db, summariseHealth(outcomes), FIVE_DAYS_LATER);
  return db.selectFrom('webhook').selectAll().where('webhook_id', '=', webhookId).executeTakeFirstOrThrow();
}

it('nine failures in five days leave an endpoint enabled, and the tenth suspends it', async () => {
  const enabled = await endpointAfter(Array.from({ length: 9 }, () => outcome()));
  expect(enabled).toMatchObject({ state: 'enabled', failed_attempts: 9 });
  const suspended = await endpointAfter([outcome({ at: FIVE_DAYS_LATER })]);
  expect(suspended).toMatchObject({ state: 'suspended', failed_attempts: 10 });
  const isChangedNow = [enabled, suspended].map(
    ({ state_changed_at }) => Date.parse(state_changed_at) === FIVE_DAYS_LATER.getTime(),
  );
  expect(isChangedNow).toEqual([false, true]);
});

it('the five days begin with the first failure, even among attempts that are recorded together', async () => {
  const late = Array.from({ length: 9 }, () => outcome({ at: FIVE_DAYS_LATER }));
  const after = await endpointAfter([outcome(), ...late]);
  expect(Date.parse(after.first_failure_at as string)).toBe(BEGAN.getTime());
  expect(after.state).toBe('suspended');
});

it.each([
  ['without authorization are not those with the word null', { authorization_value: 'null' }],
  ['to an endpoint are not those to another at the same address', { webhook_id: randomUUID() }],
])('attempts %s', (_, other) => {
  expect(summariseHealth([outcome(), outcome(other)])).toMatchObject([{ failures: 1 }, { failures: 1 }]);
});

it('a success among attempts that are recorded together begins the five days again', async () => {
  const late = Array.from({ length: 10 }, () => outcome({ at: FIVE_DAYS_LATER }));
  await endpointAfter([outcome()]);
  const after = await endpointAfter([outcome(), outcome({ succeeded: true }), ...late]);
  expect(after).toMatchObject({ state: 'enabled', failed_attempts: 10 });
});

it('the failures of an endpoint are forgotten when it is resumed', async () => {
  expect(await endpointAfter(Array.from({ length: 10 }, () => outcome()))).toMatchObject({ state: 'suspended' });
  await resumeWebhook(world.service.deps, webhookId);
  const after = await endpointAfter([outcome({ at: FIVE_DAYS_LATER })]);
  expect(after).toMatchObject({ state: 'enabled', failed_attempts: 1 });
});

it('a 410 suspends an endpoint, whatever else was answered at the same time', async () => {
  const after = await endpointAfter([outcome({ status: 410 }), outcome({ succeeded: true }), outcome()]);
  expect(after).toMatchObject({ state: 'suspended', state_reason: 'answered 410 Gone' });
});

it('an endpoint that the operator disabled meanwhile stays disabled', async () => {
  await disableWebhook(world.service.deps, webhookId);
  const after = await endpointAfter([outcome({ status: 410 })]);
  expect(after).toMatchObject({ state: 'disabled', state_reason: 'disabled by the operator' });
});

it.each([
  ['address', { url: 'http://127.0.0.1:9/earlier' }],
  ['Authorization value', { authorization_value: 'Bearer earlier' }],
])('a response to the earlier %s of an endpoint says nothing about it', async (_, earlier) => {
  const after = await endpointAfter([outcome({ ...earlier, status: 410 }), outcome(), outcome(earlier)]);
  expect(after).toMatchObject({ state: 'enabled', failed_attempts: 1 });
  expect(await endpointAfter([outcome({ ...earlier, succeeded: true })])).toMatchObject({ failed_attempts: 1 });
});
