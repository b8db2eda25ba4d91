// Connections over which nothing moves: a client that does not read its responses is cut off, as a few of them could
// otherwise hold all connections there may be. A client whose response takes long is not cut off.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProfile, readProfile } from '../profile/world.ts';
import { holdProfile } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';

/** A connection may be silent for twice this time. */
const REQUEST_TIMEOUT_MS = 200;
/** Enough for their responses to overflow a connection's buffers; sent in one packet, so that none arrives late. */
const REQUESTS = 50;

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) } });
  await createProfile(service, { customer: 'anna' });
});
afterAll(() => service.close());

test('a client that does not read its responses loses its connection', async () => {
  const socket = connect({ port: service.port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(REQUESTS));
  // A client that does not read notices the end of its connection only by writing.
  const until = performance.now() + 10_000;
  while (!socket.closed && performance.now() < until) {
    await sleep(50);
    socket.write('\r\n');
  }
  expect(socket.closed).toBe(true);
});

test('a response that takes longer than a connection may be silent still arrives', async () => {
  const release = await holdProfile(service, 'anna');
  const response = readProfile(service, { customer: 'anna' });
  await sleep(4 * REQUEST_TIMEOUT_MS);
  await release();
  expect((await response).status).toBe(200);
});
