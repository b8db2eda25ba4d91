// A group of posts for one profile: what is kept of it, and how many records are written for it.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AttributionRow, writeAttributions } from '../../src/attribution/queries.ts';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { post, readRecord } from './world.ts';

let service: TestService;
let profileId: string;
let count = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(async () => {
  profileId = await addProfile(service, `customer ${++count}`);
  await post(service, { status: 'organic', profile_id: profileId, attribution_user_id: 'before' });
});

/** Writes a record for each user with the label that the profile already has, by profile id or by customer user id. */
async function write(users: readonly string[], { replaces = true, isById = (_: number): boolean => true } = {}) {
  const { db } = service.database;
  const label = await db
    .selectFrom('profile_attribution')
    .select(['app_id', 'attribution_key'])
    .executeTakeFirstOrThrow();
  const rows = users.map((attribution_user_id, i): AttributionRow => {
    const identity = isById(i)
      ? { profile_id: profileId, customer_user_id: null }
      : { profile_id: null, customer_user_id: `customer ${count}` };
    return { ...label, ...identity, attribution_user_id };
  });
  return writeAttributions(db, rows, replaces);
}

const numbered = (length: number) => Array.from({ length }, (_, i) => `user ${i}`);

/** Counts the records that were tried: each draws a number from the sequence, even one that changes nothing. */
async function countTried(work: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    const { rows } = await sql<{ number: string }>`select last_value as number from label_pending_queue_no_seq`.execute(
      service.database.db,
    );
    return Number(rows[0]?.number);
  };
  const before = await read();
  await work();
  return (await read()) - before;
}

async function kept(): Promise<(string | null | undefined)[]> {
  const record = await readRecord(service, profileId);
  return [record, ...(record?.superseded ?? [])].map((one) => one?.attribution_user_id);
}

test('the last of many posts is the record, the ten before it are kept as superseded, and of the others only the first is written', async () => {
  const tried = await countTried(async () => expect(await write(numbered(60))).toEqual(Array(60).fill(true)));
  expect(await kept()).toEqual(numbered(60).slice(-11).toReversed());
  // The first of the group, and the eleven that are kept.
  expect(tried).toBe(12);
});

test('as many posts as are kept are written one by one', async () => {
  await write(numbered(6));
  expect(await kept()).toEqual([...numbered(6).toReversed(), 'before']);
});

test('when the profile is named in two ways, a record that is repeated later is kept as well', async () => {
  await write(['a', 'b', 'c', 'b'], { isById: (i) => i % 2 === 1 });
  expect(await kept()).toEqual(['b', 'c', 'b', 'a', 'before']);
});

test('if one record of a group fails, each is kept once when all are tried again', async () => {
  const { db } = service.database;
  await sql`
    create function refuse_third() returns trigger language plpgsql as $$
    begin raise 'held' using errcode = 'lock_not_available'; end $$`.execute(db);
  await sql`
    create trigger refuse_third before insert or update on profile_attribution
    for each row when (new.attribution_user_id = 'user 2') execute function refuse_third()`.execute(db);
  await expect(write(numbered(3))).rejects.toMatchObject({ code: '55P03' });
  await sql`drop function refuse_third cascade`.execute(db);
  await write(numbered(3));
  expect(await kept()).toEqual([...numbered(3).toReversed(), 'before']);
});

test('another user id under the same label queues no relabelling', async () => {
  const { db } = service.database;
  while ((await relabelBatch(db)) > 0);
  await write(['after']);
  expect(await kept()).toEqual(['after', 'before']);
  const records = db.selectFrom('profile_attribution').select('queue_no').where('profile_id', '=', profileId);
  expect(await records.execute()).toEqual([{ queue_no: null }]);
  expect(await db.selectFrom('label_pending').selectAll().execute()).toEqual([]);
});

test('a record that repeats the one before it is not written again', async () => {
  const users = ['a', ...Array<string>(30).fill('b'), 'a', 'a', 'b'];
  const tried = await countTried(() => write(users));
  expect(await kept()).toEqual(['b', 'a', 'b', 'a', 'before']);
  expect(tried).toBe(4);
});

test('when the profile is named in two ways by turns, the last post of all is its record', async () => {
  expect(await write(numbered(40), { isById: (i) => i % 2 === 0 })).toEqual(Array(40).fill(true));
  expect(await kept()).toEqual(numbered(40).slice(-11).toReversed());
});

test('for an app that keeps the first record, no later one is written', async () => {
  const tried = await countTried(async () =>
    expect(await write(numbered(60), { replaces: false })).toEqual(Array(60).fill(true)),
  );
  expect(await kept()).toEqual(['before']);
  expect(tried).toBe(1);
});
