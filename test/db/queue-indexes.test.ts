// The index of a queue that was long shrinks again once the queue is short, and nobody waits long for that.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rebuildEmptied } from '../../src/db/queue-indexes.ts';
import { startService, type TestService } from '../setup/service.ts';

const LARGE_BYTES = 500_000;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const inDatabase = () => service.deps.db;

/** Queues `rows` labels, deletes all but `left` of them, and vacuums. */
async function fill(rows: number, left: number): Promise<void> {
  const db = inDatabase();
  await sql`truncate label_pending`.execute(db);
  await sql`insert into label_pending select 1, gen_random_uuid(), 1, 2 from generate_series(1, ${rows}::integer)`.execute(
    db,
  );
  await sql`delete from label_pending where queue_no > (select min(queue_no) + ${left} - 1 from label_pending)`.execute(
    db,
  );
  await sql`vacuum label_pending`.execute(db);
}

async function indexBytes(): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select sum(pg_relation_size(indexrelid))::integer as bytes from pg_index where indrelid = 'label_pending'::regclass`.execute(
    inDatabase(),
  );
  return rows[0]!.bytes;
}

const countLeft = async () => (await inDatabase().selectFrom('label_pending').select('queue_no').execute()).length;

test('a large index is rebuilt, and the rows that are still queued remain', async () => {
  await fill(60_000, 10);
  expect(await indexBytes()).toBeGreaterThan(LARGE_BYTES);
  await rebuildEmptied(inDatabase(), LARGE_BYTES);
  expect(await indexBytes()).toBeLessThan(LARGE_BYTES / 10);
  expect(await countLeft()).toBe(10);
});

test('an index that is being read is left for another time', async () => {
  await fill(60_000, 10);
  await inDatabase()
    .transaction()
    .execute(async (reading) => {
      await reading.selectFrom('label_pending').select('queue_no').execute();
      await rebuildEmptied(inDatabase(), LARGE_BYTES);
      expect(await indexBytes()).toBeGreaterThan(LARGE_BYTES);
    });
  await rebuildEmptied(inDatabase(), LARGE_BYTES);
  expect(await indexBytes()).toBeLessThan(LARGE_BYTES / 10);
});
