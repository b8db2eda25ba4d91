// The log: one line per request, with the id that its response carries, and never a key.
import { once } from 'node:events';
import { connect } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createKey, revokeKey } from '../../src/apps/service.ts';
import { askChart, CHARTS_PATH } from '../analytics/import.ts';
import { ATTRIBUTION, post } from '../attribution/world.ts';
import { GRANT, grant, rawGrant } from '../grants/world.ts';
import { holdProfile, holdTable, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { openRaw, rawPost, sendRaw } from './raw.ts';

let service: TestService;
const lines: string[] = [];
beforeAll(async () => {
  const env = { REQUEST_TIMEOUT_MS: '300', RATE_LIMIT_ATTRIBUTION_PER_IP: '1000' };
  service = await startService({ onLog: (line) => lines.push(line), env });
  await addProfile(service, 'anna');
  await addAccessLevel(service, 'premium');
});
afterAll(() => service.close());

const record = { status: 'organic', customer_user_id: 'anna' };

/** Finds the `request` line of a response in the log. */
async function findLine(requestId: unknown) {
  // The line is written after the response has been sent.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const found = lines
    .map((line) => JSON.parse(line))
    .filter((one) => one.request_id === requestId && one.msg === 'request');
  expect(found).toHaveLength(1);
  return found[0];
}

test('each request has one line with method, path, status, duration, app and key id, under the id of the response', async () => {
  const { headers } = await post(service, record);
  expect(await findLine(headers['request-id'])).toMatchObject({
    method: 'POST',
    path: '/api/v2/web-api/attribution',
    status: 201,
    ms: expect.any(Number),
    app_id: service.appId,
    key_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

test('refused requests have their lines, even those that never became requests', async () => {
  const refused = [
    { status: 401, response: await service.call('POST', GRANT, { body: {} }) },
    { status: 404, response: await service.call('GET', '/nothing?secret=1') },
    { status: 405, response: await service.call('GET', GRANT) },
    { status: 404, response: await sendRaw(service.port, 'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n') },
    { status: 400, response: await sendRaw(service.port, 'GET / HTTP/7.1\r\n\r\n') },
    { status: 408, response: await sendRaw(service.port, 'GET / HTTP/1.1\r\n') },
  ];
  for (const { status, response } of refused) {
    expect(await findLine(response.headers['request-id'])).toMatchObject({ status });
  }
});

test('at most 200 characters of a path that does not exist are logged', async () => {
  const { headers } = await service.call('GET', `/${'x'.repeat(5_000)}`);
  expect((await findLine(headers['request-id'])).path).toBe(`/${'x'.repeat(199)}`);
});

const requestsSince = (before: number) =>
  lines
    .slice(before)
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'request');

const warningsSince = (before: number) =>
  lines
    .slice(before)
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level > 30);

test('a client that leaves before its responses has a line for each and is counted as 499; its requests still take effect', async () => {
  const release = await holdProfile(service, 'anna');
  const connection = openRaw(service.port);
  // The second request waits behind the first.
  connection.send(rawGrant(service) + rawGrant(service));
  await waitForBlocked(service, 2);
  const before = lines.length;
  connection.close();
  const left = { method: 'POST', path: expect.stringContaining('/grant/'), status: 499, app_id: service.appId };
  // For a second, the client might still be reading.
  await vi.waitFor(() => expect(requestsSince(before)).toMatchObject([left, left]), 5_000);
  expect((await service.call('GET', '/metrics')).text).toMatch(
    /^sps_http_requests_total\{operation="Grant access level",status="499"\} [1-9]/m,
  );
  await release();
  await vi.waitFor(async () => {
    expect(await service.database.db.selectFrom('access_grant').select('access_level_id').execute()).toHaveLength(1);
  });
});

test('a client whose connection breaks in the middle of its body has a line', async () => {
  const before = lines.length;
  const socket = connect(service.port, '127.0.0.1');
  socket.write(rawPost(ATTRIBUTION, service.publicKey, JSON.stringify(record), 'Expect: 100-continue').slice(0, -1));
  await once(socket, 'data');
  socket.resetAndDestroy();
  await vi.waitFor(() => expect(requestsSince(before)).toMatchObject([{ method: 'POST', status: 499 }]), 5_000);
});

/** Sends a request and leaves while a table that it needs is locked. That must not be logged as an error. */
async function leaveWhileHeld(table: string, request: string): Promise<void> {
  const release = await holdTable(service, table);
  const connection = openRaw(service.port);
  connection.send(request);
  await waitForBlocked(service);
  const before = lines.length;
  connection.close();
  await vi.waitFor(() => expect(requestsSince(before)).toMatchObject([{ status: 499 }]), 5_000);
  await release();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(warningsSince(before)).toEqual([]);
}

test('a client that leaves while its key is looked up is no error, although it has no address by which to limit it', async () => {
  const { key } = await createKey(service.deps, { appId: service.appId, kind: 'public' });
  await leaveWhileHeld('api_key', rawPost(ATTRIBUTION, key, JSON.stringify(record)));
});

test('a client that leaves before any part of a compressed response was sent is no error', async () => {
  const question = { chart_id: 'mrr', period_unit: 'day', filters: { date: ['2026-01-01', '2026-03-31'] } };
  await askChart(service, question);
  const request = rawPost(CHARTS_PATH, service.secretKey, JSON.stringify(question), 'Accept-Encoding: gzip');
  // This table is read to check whether the kept answer is still valid.
  await leaveWhileHeld('fact_version', request);
});

test('a connection over which nothing comes is closed without a response, and has no line', async () => {
  const before = lines.length;
  const silent = openRaw(service.port);
  await expect(silent.next()).rejects.toThrow('ended without a response');
  expect(requestsSince(before)).toEqual([]);
});

test('a complete request followed by broken HTTP has a line of its own', async () => {
  const before = lines.length;
  const connection = openRaw(service.port);
  connection.send(`${rawGrant(service)}broken\r\n\r\n`);
  await connection.ended;
  const statuses = () => requestsSince(before).map(({ status }) => status);
  await vi.waitFor(() => expect(statuses().toSorted()).toEqual([200, 400]), 5_000);
});

test('a body that arrives too slowly has one line', async () => {
  const before = lines.length;
  expect(await sendRaw(service.port, rawGrant(service).slice(0, -1))).toMatchObject({ status: 408 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(requestsSince(before)).toMatchObject([{ status: 408 }]);
});

test.each([
  ['does not come', ''],
  ['is broken', 'broken\r\n'],
])(
  'a request that was answered before its body has one line and no second response if the body %s',
  async (_words, rest) => {
    const before = lines.length;
    const connection = openRaw(service.port);
    connection.send(`POST ${GRANT} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
    expect(await connection.next()).toMatchObject({ status: 401 });
    connection.send(rest);
    await connection.ended;
    await expect(connection.next()).rejects.toThrow('ended without a response');
    expect(requestsSince(before)).toMatchObject([{ status: 401 }]);
  },
);

test('lines written while a request is being answered carry its id', async () => {
  await sql`alter table profile_attribution rename to elsewhere`.execute(service.database.db);
  const { status, headers } = await post(service, record);
  await sql`alter table elsewhere rename to profile_attribution`.execute(service.database.db);
  expect(status).toBe(500);
  await findLine(headers['request-id']);
  const failures = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed');
  expect(failures).toMatchObject([{ level: 50, request_id: headers['request-id'], err: { code: '42P01' } }]);
});

test('no key is ever in the log, wherever a client puts it', async () => {
  const { key: revoked, key_id } = await createKey(service.deps, { appId: service.appId, kind: 'secret' });
  await revokeKey(service.deps, key_id);
  const keys = [service.publicKey, service.secretKey, revoked];
  for (const key of keys) {
    await post(service, record, { key });
    await grant(service, { access_level_id: 'premium' }, {}, { key });
    await service.call('GET', `/keys/${key}?api_key=${key}`);
    await service.call('GET', `/keys/${key.replace('live', 'LIVE')}`);
    await service.call('GET', `/keys/${key.replace('_', '%5f').replace('l', '%6C')}`);
    await service.call('GET', `/keys/${key.replace('l', '%256C')}`);
    await service.call('GET', `/keys/${key.replace('_', '%25255f')}`);
    await service.call('GET', `/%${key}`).catch(() => undefined);
    await sendRaw(service.port, `GET /${key}/%zz HTTP/1.1\r\nHost: x\r\n\r\n`);
    await sendRaw(service.port, `GET / HTTP/1.1\r\nAuthorization: Api-Key ${key}\r\nbroken\r\n\r\n`);
    await sendRaw(service.port, `GET / HTTP/1.1\r\nAuthorization: Api-Key ${key}\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`);
    await sendRaw(service.port, `GET / HTTP/1.1\r\nAuthorization: Api-Key ${key}\r\n`);
    await service.call('POST', `${ATTRIBUTION}?key=${key}`, { key, body: `{"${key}` });
  }
  const log = lines.join('');
  expect(log).toContain('/keys/');
  for (const key of keys) expect(log).not.toContain(key.split('.')[1]);
  expect(log).not.toMatch(/_live_[0-9A-Za-z]{8}/);
});

test('a deliberate refusal is no failure', async () => {
  service.startDraining();
  const { status, headers } = await service.call('GET', '/readyz');
  expect(status).toBe(503);
  const id = headers['request-id'];
  await findLine(id);
  const failures = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg, request_id }) => msg === 'request failed' && request_id === id);
  expect(failures).toEqual([]);
});
