// Requests that come ahead of the answers to earlier ones on their connection.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTo } from '../db/one-connection.ts';
import { waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { openRaw } from './raw.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('a hundred wait for their turn; further ones are 503 at once, and the connection is as good as before', async () => {
  const holder = connectTo(service.database.url);
  const trx = await holder.startTransaction().execute();
  await sql`lock table schema_migration in access exclusive mode`.execute(trx);
  const connection = openRaw(service.port);
  const request = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n';
  connection.send(request.repeat(150));
  await waitForBlocked(service);
  await trx.commit().execute();
  await holder.destroy();
  const statuses: number[] = [];
  for (let i = 0; i < 150; i++) statuses.push((await connection.next()).status);
  expect(statuses).toEqual([...Array(101).fill(200), ...Array(49).fill(503)]);
  connection.send(request.repeat(50));
  for (let i = 0; i < 50; i++) expect((await connection.next()).status).toBe(200);
  connection.close();
});
