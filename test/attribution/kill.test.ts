// Whatever a client saw confirmed survives kill -9 (decisions 4): real processes, killed under load.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { addNumberedProfiles, listStored, postUnderLoad, startProcess } from './process.ts';

const PROFILES = 20_000;
const CONFIRMED_BEFORE_KILL = 1_000;
const ROUNDS = 2;

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { app, public_key } = await createApp(database, { name: 'Kill' });
  key = public_key;
  await addNumberedProfiles(database.db, app.app_id, PROFILES);
});
afterAll(() => database.close());

test('every confirmed post is stored, however often the service is killed in the middle', async () => {
  const numbers = Array.from({ length: PROFILES }, (_, index) => index + 1).values();
  const confirmed = new Set<number>();
  for (let round = 1; round <= ROUNDS; round++) {
    const service = await startProcess({ DATABASE_URL: database.url });
    const load = postUnderLoad({ url: service.url, key, numbers, clients: 64 });
    while (load.confirmed.size < CONFIRMED_BEFORE_KILL) await new Promise((resolve) => setTimeout(resolve, 20));
    service.child.kill('SIGKILL');
    await service.ended;
    await load.ended;
    for (const n of load.confirmed) confirmed.add(n);
  }
  expect(confirmed.size, 'the load ended before the last kill').toBeLessThan(PROFILES);
  const stored = await listStored(database.db);
  expect([...confirmed].filter((n) => !stored.has(n))).toEqual([]);
}, 60_000);
