// Stopping: readiness fails first while requests are still served; then requests in progress finish and new ones get
// 503.
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { GRANT, rawGrant } from '../grants/world.ts';
import { startService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { openRaw } from './raw.ts';

test('while draining /readyz fails, and requests are still served', async () => {
  const service = await startService();
  try {
    expect(await service.call('GET', '/readyz')).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
    service.startDraining();
    expect(await service.call('GET', '/readyz')).toMatchObject({ status: 503 });
    expect(await service.call('GET', '/healthz')).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await service.call('POST', GRANT, { key: service.secretKey, body: {} })).toMatchObject({ status: 400 });
  } finally {
    await service.close();
  }
});

test('closing finishes the request in progress and its connection; a request completed only afterwards gets 503 in the envelope', async () => {
  const service = await startService();
  await addProfile(service, 'anna');
  await addAccessLevel(service, 'premium');
  const request = rawGrant(service);
  const [connection, late] = [openRaw(service.port), openRaw(service.port)];
  late.send(request.slice(0, 20));
  let stopping: Promise<void> | undefined;
  await service.database.db.transaction().execute(async (trx) => {
    await sql`select from profile for update`.execute(trx);
    connection.send(request);
    await new Promise((resolve) => setTimeout(resolve, 200));
    stopping = service.stop();
    await new Promise((resolve) => setTimeout(resolve, 50));
    late.send(request.slice(20));
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
  expect(await connection.next()).toMatchObject({ status: 200, headers: { connection: 'close' } });
  const refused = await late.next();
  expect(refused).toMatchObject({
    status: 503,
    json: { error_code: 'service_unavailable', status_code: 503 },
    headers: {
      connection: 'close',
      'retry-after': '1',
      'cache-control': 'no-store',
      'request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
    },
  });
  await Promise.all([connection.ended, late.ended]);
  await stopping;
  await service.close();
});

test('a connection over which nothing ever came does not delay closing', async () => {
  const service = await startService();
  const silent = openRaw(service.port);
  expect(await service.call('GET', '/healthz')).toMatchObject({ status: 200 });
  await service.stop();
  await silent.ended;
  await service.close();
});
