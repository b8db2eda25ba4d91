// The service goes by the database's clock, whatever the machine's own clock says.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createDatabaseClock } from '../../src/db/clock.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startProgram } from '../setup/processes.ts';

const HUNDRED_DAYS_MS = 100 * 86_400_000;
/** Preloaded into a process, this sets its Dates a hundred days ahead. */
const AHEAD = `
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) { if (given.length > 0) super(...given); else super(Real.now() + ${HUNDRED_DAYS_MS}); }
    static now() { return Real.now() + ${HUNDRED_DAYS_MS}; }
  };`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
afterEach(() => vi.useRealTimers());

async function distance(now: () => Date): Promise<number> {
  const { rows } = await sql<{ at: string }>`select clock_timestamp()::text as at`.execute(database.db);
  return Math.abs(now().getTime() - Date.parse((rows[0] as { at: string }).at));
}

test("the clock is that of the process until the database's clock has been read", async () => {
  const { now, read } = createDatabaseClock(database.db);
  expect(Math.abs(now().getTime() - Date.now())).toBeLessThan(1_000);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HUNDRED_DAYS_MS });
  await read();
  expect(await distance(now)).toBeLessThan(1_000);
  await read();
  expect(await distance(now)).toBeLessThan(1_000);
});

test('a service whose own clock is ahead says so and deletes nothing before its time', async () => {
  await database.db.deleteFrom('webhook_event').execute();
  await sql`
    insert into webhook_event (event_id, app_id, profile_id, event_type, payload, created_at)
    select gen_random_uuid(), ${randomUUID()}::uuid, gen_random_uuid(), 'access_level_updated', '{}', now() - age
    from unnest(array[interval '99 days', interval '1 day']) as age`.execute(database.db);
  const countEvents = async () => (await database.db.selectFrom('webhook_event').select('event_id').execute()).length;
  const service = startProgram('dist/main.js', [], {
    DATABASE_URL: database.url,
    PORT: '0',
    EVENT_RETENTION_DAYS: '30',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(AHEAD)}`,
  });
  try {
    await service.printed(/^ready: /);
    // By then the first sweep has run: it deletes the old event.
    await vi.waitFor(async () => expect(await countEvents()).toBeLessThan(2), 10_000);
    expect(await countEvents()).toBe(1);
    // Log lines are written up to a tenth of a second late.
    await vi.waitFor(() => expect(service.stderr()).toMatch(/"database_ahead_ms":-86(39|40)\d{6},/), 5_000);
  } finally {
    service.child.kill('SIGTERM');
  }
  expect(await service.ended).toBe(0);
});
