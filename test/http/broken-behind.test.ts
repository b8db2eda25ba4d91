// Broken HTTP after a complete request: the complete one takes effect, so its own response comes first.
import { request } from 'node:http';
import { connect } from 'node:net';
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

test('the requests before broken HTTP are answered in their order, then it is refused', async () => {
  const release = await holdProfile(service, 'anna');
  const connection = openRaw(service.port);
  connection.send(`${rawGrant(service)}${rawGrant(service)}broken\r\n\r\n`);
  await waitForBlocked(service, 2);
  connection.send('and more\r\n\r\n');
  await release();
  expect((await connection.next()).json).toHaveProperty('data.access_levels.premium');
  expect((await connection.next()).status).toBe(200);
  expect(await connection.next()).toMatchObject({ status: 400, json: { error_code: 'parse_error' } });
  await connection.ended;
  await expect(connection.next()).rejects.toThrow('ended without a response');
});

test('a CONNECT waits for the responses to the requests before it', async () => {
  const release = await holdProfile(service, 'anna');
  const connection = openRaw(service.port);
  connection.send(`${rawGrant(service)}${rawGrant(service)}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await waitForBlocked(service, 2);
  await release();
  expect((await connection.next()).status).toBe(200);
  expect((await connection.next()).status).toBe(200);
  expect((await connection.next()).status).toBe(405);
  await connection.ended;
});

test('a client that leaves while its CONNECT waits disturbs nobody', async () => {
  const release = await holdProfile(service, 'anna');
  const socket = connect({ port: service.port, host: '127.0.0.1' });
  socket.write(`${rawGrant(service)}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await waitForBlocked(service);
  socket.resetAndDestroy();
  await release();
  expect((await service.call('GET', '/healthz')).status).toBe(200);
});

test('bytes after a last request are ignored', async () => {
  const connection = openRaw(service.port);
  connection.send(`${rawGrant(service).replace('\r\n', '\r\nConnection: close\r\n')}x`);
  expect((await connection.next()).status).toBe(200);
  await connection.ended;
  await expect(connection.next()).rejects.toThrow('ended without a response');
});

test('a body without a length, as Node.js sends it with DELETE, does not hide that the profile was deleted', async () => {
  await addProfile(service, 'bert');
  const status = await new Promise((resolve, reject) => {
    const deleting = request(`${service.url}/api/v2/server-side-api/profile/`, {
      method: 'DELETE',
      headers: { authorization: `Api-Key ${service.secretKey}`, 'service-customer-user-id': 'bert' },
    });
    deleting.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    deleting.write('{}');
    deleting.end();
  });
  expect(status).toBe(204);
});
