// docs/examples/webhook-receiver.js, run as a program to which the real dispatcher delivers.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createReceiver, verify } from '../../docs/examples/webhook-receiver.js';
import { rotateWebhookSecret, testWebhook } from '../../src/webhooks/endpoints.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';
import { type Program, startProgram } from '../setup/processes.ts';
import { createWorld, type World } from '../webhooks/world.ts';

let world: World;
let receiver: Program;
let url: string;
let webhookId: string;

beforeAll(async () => {
  world = await createWorld();
  for (const customer of ['user-1', 'user-2']) await world.addProfile(customer);
  const { webhook_id, secret } = await world.addEndpoint('http://127.0.0.1:9/');
  webhookId = webhook_id;
  receiver = startProgram('docs/examples/webhook-receiver.js', [], { PORT: '0', WEBHOOK_SECRET: secret });
  const [, port] = await receiver.printed(/listening on (\d+)/);
  url = `http://127.0.0.1:${port}/`;
  await world.service.database.db.updateTable('webhook').set({ url }).execute();
});
afterAll(async () => {
  receiver?.child.kill('SIGKILL');
  await world.close();
});

const delivered = () =>
  vi.waitFor(async () => {
    const { data } = await world.feed();
    for (const { deliveries } of data) expect(deliveries[0].state).toBe('delivered');
    return data;
  }, 10_000);

test('the receiver accepts what the service sends, even while its secret is being rotated', async () => {
  world.dispatch();
  await world.grant('user-1');
  const [event] = await delivered();
  await receiver.printed(new RegExp(`access_level_updated user-1 ${event.event_id}\n`));
  await rotateWebhookSecret(world.service.deps, webhookId);
  await world.grant('user-2');
  await delivered();
  await receiver.printed(/access_level_updated user-2 /);
});

test('the test event belongs to no customer', async () => {
  await testWebhook(world.service.deps, webhookId);
  await receiver.printed(/^test - [0-9a-f-]{36}\n/m);
});

test('an event that the secret did not sign is refused', async () => {
  const headers = { 'webhook-id': 'a', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
  const unsigned = await fetch(url, { method: 'POST', headers, body: '{"event_type":"forged"}' });
  expect(unsigned.status).toBe(401);
  const forged = { ...headers, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` };
  expect((await fetch(url, { method: 'POST', headers: forged, body: '{"event_type":"forged"}' })).status).toBe(401);
  expect(receiver.stdout()).not.toContain('forged');
});

test('a signed message fails with another body, another id, an old time or none', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const now = 1_800_000_000_000;
  const body = '{"event_type":"test"}';
  const headers = signatureHeaders({ id: 'a', timestampS: now / 1000, body, secrets: [secret] });
  expect(verify(body, headers, secret, now)).toEqual({ event_type: 'test' });
  expect(() => verify(`${body} `, headers, secret, now)).toThrow('no signature matches');
  expect(() => verify(body, { ...headers, 'webhook-id': 'b' }, secret, now)).toThrow('no signature matches');
  expect(() => verify(body, headers, secret, now + 301_000)).toThrow('the timestamp is not recent');
  expect(() => verify(body, { ...headers, 'webhook-timestamp': 'x' }, secret, now)).toThrow(
    'the timestamp is not recent',
  );
});

test.each(['', 'whsec_', 'secret', undefined])(
  'a receiver without a secret (%j), which would believe everybody, cannot be created',
  (secret) => {
    expect(() => createReceiver({ secret, onEvent: () => undefined })).toThrow('the secret must be whsec_…');
    expect(() => verify('{}', { 'webhook-timestamp': String(Date.now() / 1000) }, secret)).toThrow(
      'the secret must be',
    );
  },
);

test('a message repeated while it is being handled is handled once; one that failed is handled again', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const told: string[] = [];
  let arrived = 0;
  const server = createReceiver({
    secret,
    onEvent: async (_event: object, id: string) => {
      told.push(id);
      await vi.waitUntil(() => arrived % 2 === 0, 5_000);
      if (told.length === 1) throw new Error('not now');
    },
  }).listen(0, '127.0.0.1');
  server.on('request', (request) => request.once('end', () => arrived++));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const body = '{"event_type":"test"}';
  const headers = signatureHeaders({ id: 'a', timestampS: Math.floor(Date.now() / 1000), body, secrets: [secret] });
  const send = async () => (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
  expect(await Promise.all([send(), send()])).toEqual([500, 500]);
  expect(await Promise.all([send(), send()])).toEqual([200, 200]);
  expect(await send()).toBe(200);
  expect(told).toEqual(['a', 'a']);
  server.closeAllConnections();
  server.close();
});
