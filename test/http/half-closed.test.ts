// A client that closes its sending side after its request, as `nc -N` does, and still reads: it is answered, unless
// that takes long.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rawGrant } from '../grants/world.ts';
import { holdProfile, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { openRaw } from './raw.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addProfile(service, 'anna');
  await addAccessLevel(service, 'premium');
});
afterAll(() => service.close());

test('every request of a half-closed connection is answered, then it is closed', async () => {
  const connection = openRaw(service.port);
  connection.send(rawGrant(service) + rawGrant(service));
  connection.end();
  expect((await connection.next()).status).toBe(200);
  expect((await connection.next()).status).toBe(200);
  await connection.ended;
});

test('an incomplete request of a half-closed connection gets 400', async () => {
  const connection = openRaw(service.port);
  connection.send(rawGrant(service).slice(0, -1));
  connection.end();
  expect((await connection.next()).status).toBe(400);
  await connection.ended;
});

test('a request that takes longer than a second is no longer answered: the client may have left', async () => {
  const release = await holdProfile(service, 'anna');
  const connection = openRaw(service.port);
  connection.send(rawGrant(service));
  connection.end();
  await waitForBlocked(service);
  await connection.ended;
  await release();
  await expect(connection.next()).rejects.toThrow('ended without a response');
});
