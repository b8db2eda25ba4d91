// What an operator does to endpoints, as the sps program calls it.
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addWebhook, changeWebhook } from '../../src/webhooks/endpoint-settings.ts';
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  removeWebhook,
  resumeWebhook,
  rotateWebhookSecret,
  testWebhook,
} from '../../src/webhooks/endpoints.ts';
import { waitForBlocked } from '../setup/locks.ts';
import { answering, hanging, type Receiver } from './receiver.ts';
import { createWorld, eventually, type World } from './world.ts';

let world: World;
let receiver: Receiver;
let deps: World['service']['deps'];
let appId: string;

beforeAll(async () => {
  world = await createWorld();
  ({ deps, appId } = world.service);
  await world.addProfile('ann');
});

beforeEach(async () => {
  await deps.db.deleteFrom('webhook').execute();
  receiver = await world.receive();
});

afterAll(async () => {
  await world.close();
});

async function only() {
  const rows = await listWebhooks(deps, appId);
  expect(rows).toHaveLength(1);
  return rows[0] as (typeof rows)[0];
}

describe('add', () => {
  it('sends a signed test event and stores the endpoint when it gets 2xx', async () => {
    const added = await addWebhook(deps, { appId, url: `${receiver.url}/hook#part`, authorization: 'Bearer x' });
    const [{ body, headers } = { body: '', headers: {} }] = receiver.received;
    expect(headers).toMatchObject({ authorization: 'Bearer x' });
    expect(new Webhook(added.secret).verify(body, headers as Record<string, string>)).toMatchObject({
      event_type: 'test',
      event_api_version: 1,
      event_properties: {
        webhook_id: added.webhook_id,
        profile_event_id: (headers as Record<string, string>)['webhook-id'],
      },
    });
    expect(await only()).toMatchObject({
      webhook_id: added.webhook_id,
      app_id: appId,
      url: `${receiver.url}/hook`,
      state: 'enabled',
      has_authorization: true,
      event_types: null,
      failed_attempts: 0,
      pending: 0,
      dead: 0,
    });
    expect(JSON.stringify(await only())).not.toContain(added.secret);
  });

  it.each([
    ['an error', answering(401, 'bad signature'), /the receiver answered 401 \(bad signature\)[\s\S]*--no-verify/],
    ['a redirect', answering(302), /the receiver answered 302\.$/],
    ['a wrong path', answering(404), /the receiver answered 404\.$/],
    ['too many requests', answering(429), /the receiver answered 429\.$/],
    ['nothing', hanging, /no complete response within 0.2 s\.$/],
  ])('stores nothing when the receiver answers with %s', async (_words, behaviour, message) => {
    receiver.behave(behaviour);
    await expect(addWebhook(deps, { appId, url: receiver.url }, { deadlineMs: 200 })).rejects.toThrow(message);
    expect(await listWebhooks(deps)).toEqual([]);
  });

  it('sends no test event with verify: false', async () => {
    receiver.behave(answering(500));
    await addWebhook(deps, { appId, url: receiver.url, verify: false });
    expect(receiver.received).toEqual([]);
  });

  it.each([
    [{ url: 'nonsense' }, /it is not a URL/],
    [{ url: 'https://169.254.169.254/' }, /metadata address/],
    [{ url: 'https://user:secret@example.com/' }, /user name or password/],
    [{ authorization: 'a\r\nX-Other: b' }, /printable ASCII/],
    [{ authorization: '' }, /printable ASCII/],
    [{ events: ['nothing_happened'] }, /Unknown event types: nothing_happened\. Valid types: access_level_updated/],
    [{ events: [] }, /No event type was given\. Valid types: access_level_updated/],
    [{ appId: 'none' }, /There is no app none/],
  ])('refuses %j', async (input, message) => {
    await expect(addWebhook(deps, { appId, url: receiver.url, ...input })).rejects.toThrow(message);
    expect(await listWebhooks(deps)).toEqual([]);
  });

  it('refuses private addresses and http unless they are allowed', async () => {
    const strict = { ...deps, config: { ...deps.config, WEBHOOK_ALLOW_PRIVATE: false } };
    await expect(addWebhook(strict, { appId, url: receiver.url })).rejects.toThrow(/must begin with https:/);
    const resolve = async () => [{ address: '10.0.0.1', family: 4 }];
    await expect(addWebhook(strict, { appId, url: 'https://hook.example/' }, { resolve })).rejects.toThrow(
      /10.0.0.1 is a private/,
    );
  });
});

describe('change', () => {
  /** Adds an endpoint at the receiver, with an Authorization value and a choice of events. */
  async function addFull() {
    const input = { authorization: 'Bearer old', events: ['access_level_updated'] };
    const added = await addWebhook(deps, { appId, url: receiver.url, ...input });
    receiver.received.length = 0;
    return added;
  }

  it('keeps what is not named: the secret, the pending deliveries, the state', async () => {
    const { webhook_id: webhookId, secret } = await addFull();
    await deps.db.updateTable('webhook').set({ state: 'suspended' }).execute();
    await world.grant('ann');
    const elsewhere = await world.receive();
    expect(await changeWebhook(deps, { webhookId, url: `${elsewhere.url}/new#part` })).toEqual({
      webhook_id: webhookId,
      app_id: appId,
      url: `${elsewhere.url}/new`,
      event_types: ['access_level_updated'],
      state: 'suspended',
    });
    expect(receiver.received).toEqual([]);
    const [{ body, headers } = { body: '', headers: {} }] = elsewhere.received;
    expect(headers).toMatchObject({ authorization: 'Bearer old' });
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ event_type: 'test' });
    expect(await only()).toMatchObject({ pending: 1, has_authorization: true });
    await resumeWebhook(deps, webhookId);
    const dispatcher = world.dispatch();
    await eventually(() => expect(elsewhere.received).toHaveLength(2));
    await dispatcher.stop();
    expect(receiver.received).toEqual([]);
  });

  it('forgets the failures of the old target, and what waited for another attempt goes out immediately', async () => {
    const { webhook_id: webhookId } = await addFull();
    await world.grant('ann');
    const later = new Date(deps.now().getTime() + 3_600_000).toISOString();
    await deps.db.updateTable('webhook_delivery').set({ due_at: later }).where('webhook_id', '=', webhookId).execute();
    await deps.db.updateTable('webhook').set({ failed_attempts: 7, first_failure_at: later }).execute();
    await changeWebhook(deps, { webhookId, events: null });
    expect(await only()).toMatchObject({ failed_attempts: 7 });
    await changeWebhook(deps, { webhookId, authorization: 'Bearer new' });
    expect(await only()).toMatchObject({ failed_attempts: 0, first_failure_at: null });
    const dispatcher = world.dispatch();
    await eventually(() => expect(receiver.received).toHaveLength(2));
    await dispatcher.stop();
    expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer new', 'Bearer new']);
  });

  it.each([
    ['address', 410],
    ['address', 200],
    ['Authorization value', 410],
  ])(
    'with a new %s, a delivery in progress is sent again, and its response %i says nothing about the endpoint',
    async (what, status) => {
      const { webhook_id: webhookId } = await addFull();
      const elsewhere = await world.receive();
      const answers: (() => void)[] = [];
      receiver.behave((response) => answers.push(() => void response.writeHead(status).end()));
      await world.grant('ann');
      const dispatcher = world.dispatch({ leaseMs: 2_000 });
      await eventually(() => expect(answers).toHaveLength(1));
      const change = what === 'address' ? { url: elsewhere.url } : { authorization: 'Bearer new' };
      await changeWebhook(deps, { webhookId, verify: false, ...change });
      answers[0]?.();
      const isAgain = what === 'address' ? elsewhere : receiver;
      receiver.behave(answering(200));
      const [first] = receiver.received;
      await eventually(() => expect(isAgain.received.at(-1)).not.toBe(first));
      await eventually(async () =>
        expect((await world.feed()).data[0].deliveries).toMatchObject([{ state: 'delivered', attempts: 1 }]),
      );
      await dispatcher.stop();
      expect(isAgain.received.at(-1)?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(await only()).toMatchObject({ state: 'enabled', failed_attempts: 0 });
    },
  );

  it('sends the new Authorization value, or none', async () => {
    const { webhook_id: webhookId } = await addFull();
    await changeWebhook(deps, { webhookId, authorization: 'Bearer new' });
    await changeWebhook(deps, { webhookId, authorization: null });
    expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer new', undefined]);
    expect(await only()).toMatchObject({ has_authorization: false, event_types: ['access_level_updated'] });
  });

  it('sends no test event if only the events change, null meaning all of them', async () => {
    const { webhook_id: webhookId } = await addFull();
    const events = ['trial_started', 'trial_started'];
    expect(await changeWebhook(deps, { webhookId, events })).toMatchObject({ event_types: ['trial_started'] });
    expect(await changeWebhook(deps, { webhookId, events: null })).toMatchObject({ event_types: null });
    expect(receiver.received).toEqual([]);
    expect(await only()).toMatchObject({ has_authorization: true });
  });

  it('changes nothing if the test event is not accepted, unless none is sent', async () => {
    const { webhook_id: webhookId } = await addFull();
    const elsewhere = await world.receive();
    const change = { webhookId, url: elsewhere.url };
    elsewhere.behave(answering(401));
    await expect(changeWebhook(deps, change)).rejects.toThrow(/the receiver answered 401[\s\S]*--no-verify/);
    expect(await only()).toMatchObject({ url: receiver.url.replace(/\/?$/, '/') });
    expect(await changeWebhook(deps, { ...change, verify: false })).toMatchObject({ url: `${elsewhere.url}/` });
    expect(elsewhere.received).toHaveLength(1);
  });

  it.each([
    [{}, /Nothing to change: give at least one option/],
    [{ verify: false }, /Nothing to change: give at least one option/],
    [{ url: 'nonsense' }, /it is not a URL/],
    [{ authorization: '' }, /printable ASCII/],
    [{ events: ['nothing_happened'] }, /Unknown event types: nothing_happened\./],
    [{ webhookId: 'none', events: null }, /There is no webhook none/],
  ])('refuses %j', async (change, message) => {
    const { webhook_id: webhookId } = await addFull();
    const before = await only();
    await expect(changeWebhook(deps, { webhookId, ...change })).rejects.toThrow(message);
    expect(await only()).toEqual(before);
  });
});

describe('states', () => {
  it('disable and enable show each change with its time and reason', async () => {
    const { webhook_id } = await world.addEndpoint(receiver.url);
    const { state_changed_at } = await only();
    world.pass(10);
    expect(await disableWebhook(deps, webhook_id)).toEqual({ webhook_id, state: 'disabled' });
    expect(await only()).toMatchObject({ state: 'disabled', state_reason: 'disabled by the operator' });
    expect((await only()).state_changed_at > state_changed_at).toBe(true);
    await expect(disableWebhook(deps, webhook_id)).rejects.toThrow(
      'The webhook is disabled: there is nothing to disable.',
    );
    await enableWebhook(deps, webhook_id);
    expect(await only()).toMatchObject({ state: 'enabled', state_reason: 'enabled by the operator' });
    await expect(enableWebhook(deps, webhook_id)).rejects.toThrow(/The webhook is enabled/);
    await disableWebhook(deps, webhook_id);
    await expect(resumeWebhook(deps, webhook_id)).rejects.toThrow(/a disabled webhook must be enabled, not resumed/);
  });

  it('resume immediately sends deliveries that wait for their next attempt, once the receiver has recovered', async () => {
    receiver.behave(answering(503));
    const { webhook_id } = await world.addEndpoint(receiver.url);
    for (const second of [1, 2]) await world.grant('ann', { starts_at: `2025-01-01T00:00:0${second}Z` });
    const dispatcher = world.dispatch();
    await eventually(async () => expect(await only()).toMatchObject({ failed_attempts: 1 }));
    await eventually(async () => expect(await world.countClaimed()).toBe(0));
    receiver.behave(answering(200));
    expect(await resumeWebhook(deps, webhook_id)).toEqual({ webhook_id, state: 'enabled' });
    // Without the wait that the schedule asks for.
    await eventually(() => expect(receiver.received).toHaveLength(3));
    expect(receiver.events().map(({ event_properties }) => event_properties.starts_at.slice(18, 19))).toEqual([
      ...['1', '1', '2'],
    ]);
    expect(await only()).toMatchObject({ failed_attempts: 0, first_failure_at: null });
    await dispatcher.stop();
  });

  it('a disabled endpoint keeps its pending deliveries and gets no new ones; once it is enabled again, they go out', async () => {
    const other = await world.receive();
    await world.addEndpoint(other.url);
    const { webhook_id } = await world.addEndpoint(receiver.url);
    await world.grant('ann', { starts_at: '2025-01-01T00:00:01Z' });
    await disableWebhook(deps, webhook_id);
    await world.grant('ann', { starts_at: '2025-01-01T00:00:02Z' });
    const dispatcher = world.dispatch();
    await eventually(() => expect(other.received).toHaveLength(2));
    expect(receiver.received).toEqual([]);
    await enableWebhook(deps, webhook_id);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    expect(receiver.events()[0].event_properties.starts_at).toBe('2025-01-01T00:00:01.000000+0000');
    await dispatcher.stop();
  });

  it('enable immediately makes deliveries due that wait for their next attempt', async () => {
    receiver.behave(answering(503));
    const { webhook_id } = await world.addEndpoint(receiver.url);
    await world.grant('ann');
    const dispatcher = world.dispatch();
    await eventually(async () => expect(await only()).toMatchObject({ failed_attempts: 1 }));
    await dispatcher.stop();
    await disableWebhook(deps, webhook_id);
    const dueAt = async () => {
      const deliveries = deps.db.selectFrom('webhook_delivery').select('due_at').where('webhook_id', '=', webhook_id);
      const { due_at } = await deliveries.executeTakeFirstOrThrow();
      return Date.parse(due_at) - deps.now().getTime();
    };
    expect(await dueAt()).toBeGreaterThan(0);
    await enableWebhook(deps, webhook_id);
    expect(await dueAt()).toBeLessThanOrEqual(0);
  });

  it('an unknown id is reported as a mistake by every command', async () => {
    for (const ask of [enableWebhook, disableWebhook, resumeWebhook, rotateWebhookSecret, testWebhook, removeWebhook]) {
      await expect(ask(deps, 'no-uuid')).rejects.toThrow('There is no webhook no-uuid');
      await expect(ask(deps, '11111111-1111-4111-8111-111111111111')).rejects.toThrow('There is no webhook 1111');
    }
  });
});

it('rotate: both secrets sign for a day, then only the new one', async () => {
  const { webhook_id, secret: old } = await world.addEndpoint(receiver.url);
  const { secret, previous_secret_until } = await rotateWebhookSecret(deps, webhook_id);
  expect(secret).not.toBe(old);
  const overlapMs = Date.parse(previous_secret_until) - deps.now().getTime();
  expect(overlapMs).toBeGreaterThan(86_390_000);
  expect(overlapMs).toBeLessThanOrEqual(86_400_000);
  const isAccepted = async (by: string) => {
    receiver.received.length = 0;
    await testWebhook({ ...deps, now: () => new Date() }, webhook_id);
    const [{ body, headers } = { body: '', headers: {} }] = receiver.received;
    try {
      new Webhook(by).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };
  expect([await isAccepted(secret), await isAccepted(old)]).toEqual([true, true]);
  await deps.db.updateTable('webhook').set({ previous_secret_until: new Date().toISOString() }).execute();
  expect([await isAccepted(secret), await isAccepted(old)]).toEqual([true, false]);
});

it('test: reports what came instead of 2xx, and leaves no trace in the feed', async () => {
  const { webhook_id } = await world.addEndpoint(receiver.url);
  const before = (await world.feed()).data.length;
  expect(await testWebhook(deps, webhook_id)).toMatchObject({ webhook_id, status: 200 });
  receiver.behave(answering(503, 'down'));
  await expect(testWebhook(deps, webhook_id)).rejects.toThrow('the receiver answered 503 (down)');
  receiver.behave(answering(401, 'who are you?'));
  await expect(testWebhook(deps, webhook_id)).rejects.toThrow(/the receiver answered 401 \(who are you\?\)\.$/);
  expect((await world.feed()).data).toHaveLength(before);
});

it('remove: pending deliveries become dead, the feed keeps its history, and grants write no more events', async () => {
  const { webhook_id } = await world.addEndpoint(receiver.url);
  await world.grant('ann');
  await removeWebhook(deps, webhook_id);
  const [{ deliveries }, ...rest] = (await world.feed()).data;
  expect(deliveries).toEqual([{ webhook_id, state: 'dead', attempts: 0, last_status: null, next_attempt_at: null }]);
  await world.grant('ann');
  expect((await world.feed()).data).toHaveLength(rest.length + 1);
});

it('remove: a delivery that is settled as delivered at the same moment stays delivered', async () => {
  const { webhook_id } = await world.addEndpoint(receiver.url);
  await world.grant('ann');
  const settling = await deps.db.startTransaction().execute();
  await settling.updateTable('webhook_delivery').set({ state: 'delivered' }).where('state', '=', 'pending').execute();
  const removing = removeWebhook(deps, webhook_id);
  await waitForBlocked(world.service);
  await settling.commit().execute();
  await removing;
  expect((await world.feed()).data[0].deliveries).toMatchObject([{ webhook_id, state: 'delivered' }]);
});

it('remove: does not wait for a vacuum of the deliveries', async () => {
  const { webhook_id } = await world.addEndpoint(receiver.url);
  await world.grant('ann');
  const vacuuming = await deps.db.startTransaction().execute();
  await sql`lock table webhook_delivery in share update exclusive mode`.execute(vacuuming);
  await removeWebhook(deps, webhook_id).finally(() => vacuuming.rollback().execute());
  expect((await world.feed()).data[0].deliveries).toMatchObject([{ webhook_id, state: 'dead' }]);
});

it.each([
  [200, { state: 'delivered', attempts: 1, last_status: 200 }, null],
  [500, { state: 'dead', attempts: 1, last_status: 500 }, 'the webhook was removed'],
])('remove: a delivery in progress ends as answered, %i, and is not sent again', async (status, ended, error) => {
  const answers: (() => void)[] = [];
  receiver.behave((response) => answers.push(() => void response.writeHead(status).end()));
  const { webhook_id } = await world.addEndpoint(receiver.url);
  await world.grant('ann');
  const dispatcher = world.dispatch();
  await eventually(() => expect(answers).toHaveLength(1));
  await removeWebhook(deps, webhook_id);
  const feed = async () => (await world.feed()).data[0].deliveries;
  expect(await feed()).toMatchObject([{ state: 'dead', attempts: 0 }]);
  answers[0]?.();
  await eventually(async () => expect(await feed()).toEqual([{ webhook_id, ...ended, next_attempt_at: null }]));
  const stored = deps.db.selectFrom('webhook_delivery').select(['last_error', 'claim_id', 'finished_at']);
  expect(await stored.where('webhook_id', '=', webhook_id).execute()).toEqual([
    { last_error: error, claim_id: null, finished_at: expect.any(String) },
  ]);
  await dispatcher.stop();
});

it('list: shows the endpoints of one app or of all, with their pending and dead deliveries counted', async () => {
  await world.addEndpoint(receiver.url);
  await world.grant('ann');
  expect(await only()).toMatchObject({ pending: 1, dead: 0 });
  await deps.db.updateTable('webhook_delivery').set({ state: 'dead' }).where('state', '=', 'pending').execute();
  expect(await only()).toMatchObject({ pending: 0, dead: 1 });
  expect(await listWebhooks(deps)).toHaveLength(1);
  await expect(listWebhooks(deps, 'none')).rejects.toThrow('There is no app none');
});
