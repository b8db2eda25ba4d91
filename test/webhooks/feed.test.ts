// The event feed: pages, filters, and what is refused.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { recordEvents } from '../../src/webhooks/outbox.ts';
import { holdTable, waitForBlocked } from '../setup/locks.ts';
import { createWorld, type World } from './world.ts';

let world: World;
const [ann, bob] = [randomUUID(), randomUUID()];

beforeAll(async () => {
  world = await createWorld();
  const { deps, app } = world.service;
  await world.addEndpoint('http://127.0.0.1:9/');
  for (let n = 0; n < 25; n++) {
    const isAnn = n % 5 === 0;
    const event = {
      event_id: randomUUID(),
      app_id: app.app_id,
      event_type: 'access_level_updated' as const,
      profile_id: isAnn ? ann : bob,
      customer_user_id: isAnn ? 'Änn' : null,
      payload: { n },
    };
    await recordEvents(deps.db, [event]);
  }
  // Four at a time share an instant, so that pages must break ties.
  await sql`update webhook_event set
    created_at = timestamptz '2025-01-15T10:30:00.123456Z' + interval '1 hour' * ((payload->>'n')::int / 4)`.execute(
    deps.db,
  );
});

afterAll(async () => {
  await world.close();
});

async function numbers(query: string): Promise<number[]> {
  return (await world.feed(query)).data.map(({ payload }: { payload: { n: number } }) => payload.n);
}

const newestFirst = Array.from({ length: 25 }, (_, i) => 24 - i);

describe('pages', () => {
  it('have 50 events unless another limit is given', async () => {
    const { deps, call } = world.service;
    const { app, secret_key: key } = await createApp(deps, { name: 'Busy' });
    await world.addEndpoint('http://127.0.0.1:9/', { appId: app.app_id });
    const events = Array.from({ length: 51 }, () => ({
      event_id: randomUUID(),
      app_id: app.app_id,
      event_type: 'access_level_updated' as const,
      profile_id: bob,
      customer_user_id: null,
      payload: {},
    }));
    await recordEvents(deps.db, events);
    const { json } = await call('GET', '/api/v1/client-api/events/', { key });
    expect(json.data).toHaveLength(50);
    expect(json.next_cursor).not.toBeNull();
  });

  it('are newest first', async () => {
    expect(await numbers('')).toEqual(newestFirst);
    expect((await world.feed()).next_cursor).toBeNull();
  });

  it.each([1, 3, 4, 7, 24, 25, 200])('of %i give every event once', async (limit) => {
    const seen: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { data: { payload: { n: number } }[]; next_cursor: string | null } = await world.feed(
        `?limit=${limit}${cursor && `&cursor=${cursor}`}`,
      );
      expect(page.data.length).toBeGreaterThan(0);
      seen.push(...page.data.map(({ payload }) => payload.n));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(newestFirst);
  });

  it('are not disturbed by events that arrive meanwhile', async () => {
    const { next_cursor } = await world.feed('?limit=10');
    const { deps, app } = world.service;
    const late = {
      event_id: randomUUID(),
      app_id: app.app_id,
      event_type: 'access_level_updated' as const,
      profile_id: bob,
      customer_user_id: null,
    };
    await recordEvents(deps.db, [{ ...late, payload: { n: 99 } }]);
    expect((await numbers(`?limit=10&cursor=${next_cursor}`))[0]).toBe(14);
    await deps.db.deleteFrom('webhook_event').where('event_id', '=', late.event_id).execute();
  });
});

it('a delivery that waits behind another one is shown as due no earlier than that one', async () => {
  const { deps, app } = world.service;
  const profileId = randomUUID();
  const events = ['first', 'second'].map((n) => ({
    event_id: randomUUID(),
    app_id: app.app_id,
    event_type: 'access_level_updated' as const,
    profile_id: profileId,
    customer_user_id: null,
    payload: { n },
  }));
  await recordEvents(deps.db, events);
  const setFirst = async (due: string, later: string, claim: string | null) => {
    await sql`update webhook_delivery d set
      due_at = (case when e.event_id = ${events[0]!.event_id} then ${due} else ${later} end)::timestamptz,
      queued_at = '2080-01-01T00:00:00Z',
      claim_id = case when e.event_id = ${events[0]!.event_id} then ${claim}::uuid end
      from webhook_event e where e.sequence = d.sequence and e.profile_id = ${profileId}`.execute(deps.db);
    const { data } = await world.feed(`?profile_id=${profileId}`);
    return data.map(({ deliveries }: { deliveries: { next_attempt_at: string }[] }) =>
      deliveries[0]!.next_attempt_at.slice(0, 4),
    );
  };
  expect(await setFirst('2095-01-01', '2090-01-01', null)).toEqual(['2095', '2095']);
  // The second goes as soon as the first has gone, however long it was put off.
  expect(await setFirst('2090-01-01', '2095-01-01', null)).toEqual(['2090', '2090']);
  // The first is being sent, until its lease ends at the latest; the second may follow immediately.
  expect(await setFirst('2090-01-01', '2095-01-01', randomUUID())).toEqual(['2080', '2090']);
  await deps.db.deleteFrom('webhook_event').where('profile_id', '=', profileId).execute();
});

describe('filters', () => {
  it.each([
    [`profile_id=${ann}`, [20, 15, 10, 5, 0]],
    [`profile_id=${ann.toUpperCase()}`, [20, 15, 10, 5, 0]],
    [`customer_user_id=${encodeURIComponent('Änn')}`, [20, 15, 10, 5, 0]],
    ['customer_user_id=nobody', []],
    [`profile_id=${bob}&customer_user_id=${encodeURIComponent('Änn')}`, []],
    [`profile_id=${randomUUID()}`, []],
    ['event_type=access_level_updated&limit=2', [24, 23]],
    ['since=2025-01-15T16:30:00.123456Z', [24]],
    ['since=2025-01-15T16:30:00.123457Z', []],
    ['until=2025-01-15T11:30:00.123456Z', [3, 2, 1, 0]],
    ['since=2025-01-15T12:30:00Z&until=2025-01-15T13:00:00%2B0000', [11, 10, 9, 8]],
    ['profile_id=&customer_user_id=&cursor=&limit=1', [24]],
  ])('%s', async (query, expected) => {
    expect(await numbers(`?${query}`)).toEqual(expected);
  });
});

describe('what is refused', () => {
  it.each([
    ['limit=0', 'value_error', 'limit'],
    ['limit=201', 'value_error', 'limit'],
    ['limit=1.5', 'value_error', 'limit'],
    ['limit=', 'value_error', 'limit'],
    ['limit=1&limit=2', 'value_error', 'limit'],
    ['event_type=access_level_updated&event_type=access_level_updated', 'value_error', 'event_type'],
    ['cursor=abc', 'value_error', 'cursor'],
    ['event_type=nothing', 'enum', 'event_type'],
    ['profile_id=ann', 'value_error', 'profile_id'],
    ['customer_user_id=a%00b', 'value_error', 'customer_user_id'],
    ['customer_user_id=%ff', 'value_error', 'customer_user_id'],
    ['customer_user_id=%ed%a0%80', 'value_error', 'customer_user_id'],
    ['customer_user_id=%zz', 'value_error', 'customer_user_id'],
    ['customer%5Fuser_id=%ff', 'value_error', 'customer_user_id'],
    ['%ff=1', 'value_error', '%ff'],
    [`customer_user_id=${'a'.repeat(256)}`, 'value_error', 'customer_user_id'],
    ['since=2025-01-15', 'datetime', 'since'],
    ['until=soon', 'datetime', 'until'],
    ['since=2025-01-15T10:00:00Z&until=2025-01-15T10:00:00Z', 'value_error', 'until'],
    ['event_tpye=access_level_updated', 'value_error', 'event_tpye'],
  ])('%s', async (query, code, source) => {
    const { secretKey: key } = world.service;
    const { status, json } = await world.service.call('GET', `/api/v1/client-api/events/?${query}`, { key });
    expect(status).toBe(400);
    expect(json).toEqual({ errors: [{ source, errors: [expect.any(String)] }], error_code: code, status_code: 400 });
  });

  it.each([
    ['customer_user_id=%ff', 'Must be valid UTF-8.'],
    ['limit=1&limit=2', 'Must be sent only once.'],
    ['customer_user_id=a%00', 'Must not contain U+0000 or unpaired surrogates.'],
  ])('%s: %s', async (query, message) => {
    const { secretKey: key } = world.service;
    const { json } = await world.service.call('GET', `/api/v1/client-api/events/?${query}`, { key });
    expect(json.errors[0].errors).toEqual([message]);
  });

  it('all fields are reported together, unknown ones last', async () => {
    const { secretKey: key } = world.service;
    const query = '?colour=red&limit=x&event_type=y&since=z';
    const { json } = await world.service.call('GET', `/api/v1/client-api/events/${query}`, { key });
    const sources = json.errors.map(({ source }: { source: string }) => source);
    expect(sources).toEqual(['limit', 'event_type', 'since', 'colour']);
  });

  it.each(['none', 'public'])('a caller with this kind of key: %s', async (kind) => {
    const key = kind === 'public' ? { key: world.service.publicKey } : {};
    const { status, json } = await world.service.call('GET', '/api/v1/client-api/events/', key);
    expect(status).toBe(401);
    expect(json.error_code).toBe('not_authenticated');
  });

  it('another method', async () => {
    const { status, headers } = await world.service.call('POST', '/api/v1/client-api/events/', {
      key: world.service.secretKey,
      body: {},
    });
    expect(status).toBe(405);
    expect(headers.allow).toContain('GET');
  });
});

it('the feed is no longer read for a client that has left', async () => {
  const { url, secretKey } = world.service;
  const release = await holdTable(world.service, 'webhook_event');
  const leaving = new AbortController();
  const response = fetch(`${url}/api/v1/client-api/events/`, {
    headers: { authorization: `Api-Key ${secretKey}` },
    signal: leaving.signal,
  });
  await waitForBlocked(world.service, 1);
  const left = performance.now();
  leaving.abort();
  await expect(response).rejects.toThrow('aborted');
  await waitForBlocked(world.service, 0);
  // Well before the statement would time out.
  expect(performance.now() - left).toBeLessThan(5_000);
  await release();
  expect(await numbers('?limit=1')).toEqual([24]);
});

it('the feed shows an app its own events only, with or without the slash, and must not be stored by caches', async () => {
  const other = await createApp(world.service.deps, { name: 'Other' });
  const { status, json, headers } = await world.service.call('GET', '/api/v1/client-api/events', {
    key: other.secret_key,
  });
  expect(status).toBe(200);
  expect(json).toEqual({ data: [], next_cursor: null });
  expect(headers['cache-control']).toBe('no-store');
});
