// Pipelined requests: sent before earlier ones on the same connection have been answered.
import { readdir, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { holdTable, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { openRaw } from './raw.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('a hundred pipelined requests wait for their turn; further ones immediately get 503, and the connection stays usable', async () => {
  const release = await holdTable(service, 'schema_migration');
  const connection = openRaw(service.port);
  const request = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n';
  connection.send(request.repeat(150));
  await waitForBlocked(service);
  await release();
  const statuses: number[] = [];
  for (let i = 0; i < 150; i++) statuses.push((await connection.next()).status);
  expect(statuses).toEqual([...Array(101).fill(200), ...Array(49).fill(503)]);
  connection.send(request.repeat(50));
  for (let i = 0; i < 50; i++) expect((await connection.next()).status).toBe(200);
  connection.close();
});

async function countOpen(file: string): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((path) => path.endsWith(file)).length;
}

test.skipIf(process.platform !== 'linux')('a requested file is opened only when its turn has come', async () => {
  const socket = connect({ port: service.port, host: '127.0.0.1' });
  socket.write('GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(30));
  await sleep(500);
  expect(await countOpen('swagger-ui-bundle.js')).toBeLessThanOrEqual(1);
  let answers = 0;
  socket.on('data', (chunk) => {
    answers += chunk.toString('latin1').split('HTTP/1.1 200 OK').length - 1;
  });
  await vi.waitFor(() => expect(answers).toBeGreaterThanOrEqual(29), 10_000);
  socket.destroy();
});
