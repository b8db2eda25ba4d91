// Whatever a client saw confirmed survives kill -9 (decisions 4): real processes, killed under load.
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import type { DB } from '../../src/db/types.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { endProcess, postUnderLoad, startProcess } from './process.ts';

const PROFILES = 20_000;
const CONFIRMED_BEFORE_KILL = 1_000;
const ROUNDS = 2;

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { app, public_key } = await createApp(database, { name: 'Kill' });
  key = public_key;
  await addProfiles(database.db, app.app_id);
});
afterAll(() => database.close());

async function addProfiles(db: Kysely<DB>, appId: string): Promise<void> {
  await sql`
    with made as (
      insert into profile (app_id, customer_user_id, installed_at)
      select ${appId}::uuid, 'user ' || n, now() from generate_series(1, ${PROFILES}::int) n
      returning app_id, customer_user_id, profile_id
    )
    insert into profile_identity (app_id, customer_user_id, profile_id)
    select app_id, customer_user_id, profile_id from made`.execute(db);
}

async function listStored(db: Kysely<DB>): Promise<Set<number>> {
  const { rows } = await sql<{ n: number }>`
    select substr(attribution_user_id, 6)::int as n
    from profile join profile_attribution using (app_id, profile_id)
    where attribution_user_id = 'post ' || substr(customer_user_id, 6)`.execute(db);
  return new Set(rows.map(({ n }) => n));
}

test('every confirmed post is stored, however often the service is killed in the middle', async () => {
  const numbers = Array.from({ length: PROFILES }, (_, index) => index + 1).values();
  const confirmed = new Set<number>();
  for (let round = 1; round <= ROUNDS; round++) {
    const service = await startProcess({ DATABASE_URL: database.url });
    const load = postUnderLoad({ url: service.url, key, numbers, clients: 64 });
    while (load.confirmed.size < CONFIRMED_BEFORE_KILL) await new Promise((resolve) => setTimeout(resolve, 20));
    await endProcess(service, 'SIGKILL');
    await load.ended;
    for (const n of load.confirmed) confirmed.add(n);
  }
  expect(confirmed.size, 'the load ended before the last kill').toBeLessThan(PROFILES);
  const stored = await listStored(database.db);
  expect([...confirmed].filter((n) => !stored.has(n))).toEqual([]);
}, 60_000);
