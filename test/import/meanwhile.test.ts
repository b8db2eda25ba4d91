// How imports and concurrent writers treat each other's changes.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAttributionRecorder } from '../../src/attribution/service.ts';
import { loadConfig } from '../../src/config.ts';
import { ONE_RUN } from '../../src/db/server-run.ts';
import { createGrantor } from '../../src/grants/service.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { deleteProfile } from '../../src/profile/removal.ts';
import { createProfile, updateProfile } from '../../src/profile/service.ts';
import { waitForBlocked } from '../setup/locks.ts';
import { addAccessLevel } from '../setup/world.ts';
import { createWorld, MONTH, RENEWAL, toNdjson, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld({ sharing: 'transfer' });
  await addAccessLevel({ database: world.database, appId: world.app.app_id }, 'premium');
});
beforeEach(async () => {
  await sql`truncate profile, profile_identity, profile_attribution, label_pending, fact_install, fact_transaction, purchase,
    purchase_chain cascade`.execute(world.database.db);
});
afterAll(() => world.close());

function recorderOf({ database: { db } }: World) {
  return createAttributionRecorder({ db, groupDb: db, serverRun: ONE_RUN, config: loadConfig({}) });
}

/**
 * Holds a name: an import that needs it waits, once it has written the profiles that existed before. Returns a function
 * that releases the name.
 */
async function holdName({ database: { db }, app }: World, customerUserId: string): Promise<() => Promise<void>> {
  const held = await db.startTransaction().execute();
  await sql`insert into profile_identity (app_id, customer_user_id, profile_id)
    select app_id, ${customerUserId}, profile_id from profile where app_id = ${app.app_id} limit 1`.execute(held);
  return async () => {
    await held.rollback().execute();
  };
}

describe('a name that an import hands to another profile', () => {
  const [former, next] = [randomUUID(), randomUUID()];
  let ended: () => Promise<unknown>;
  beforeEach(async () => {
    await world.profiles({ profile_id: former, customer_user_id: 'shared' }, { profile_id: next });
    const release = await holdName(world, 'held');
    const importing = world.profiles(
      { profile_id: former, customer_user_id: 'other' },
      { profile_id: next, customer_user_id: 'shared' },
      { customer_user_id: 'held' },
    );
    await waitForBlocked(world);
    ended = async () => {
      await release();
      expect(await importing).toMatchObject({ written: 3, rejected: 0 });
    };
  });

  test('names the other profile for an attribution that waits for the import', async () => {
    const record = recorderOf(world);
    const posted = record(world.app, { customer_user_id: 'shared', status: 'organic' });
    await waitForBlocked(world, 2);
    await ended();
    await posted;
    const rows = await world.database.db.selectFrom('profile_attribution').select('profile_id').execute();
    expect(rows).toEqual([{ profile_id: next }]);
  });

  test('names the other profile for an operation on the profile that waits', async () => {
    const identity = { customer_user_id: 'shared', profile_id: null };
    const updating = updateProfile(world.database, { app: world.app, identity, body: { country: 'DE' } });
    await waitForBlocked(world, 2);
    await ended();
    expect(await updating).toMatchObject({ profile_id: next, country: 'DE' });
  });

  test('names the other profile for a request with an Idempotency-Key that waits', async () => {
    const granting = createGrantor({ ...world.database, now: () => new Date() })({
      app: world.app,
      identity: { customer_user_id: 'shared', profile_id: null },
      idempotency: { key: 'once', body_sha256: Buffer.alloc(32) },
      body: { access_level_id: 'premium' },
    });
    await waitForBlocked(world, 2);
    await ended();
    expect(JSON.parse(await granting)).toMatchObject({ data: { profile_id: next } });
  });

  test('names the other profile for a deletion that waits', async () => {
    const identity = { customer_user_id: 'shared', profile_id: null };
    const deleting = deleteProfile(world.database, { app: world.app, identity });
    await waitForBlocked(world, 2);
    await ended();
    await deleting;
    const gone = world.database.db.selectFrom('profile').select('profile_id').where('deleted_at', 'is not', null);
    expect(await gone.execute()).toEqual([{ profile_id: next }]);
  });
});

test('an app that keeps the first attribution keeps one that is posted while a batch is being written', async () => {
  const first = await createWorld({ attribution_policy: 'first' });
  const { db } = first.database;
  await first.profiles({ customer_user_id: 'ann' });
  const release = await holdName(first, 'held');
  const importing = first.profiles(
    { customer_user_id: 'ann', attribution: { status: 'organic', attribution_user_id: 'imported' } },
    { customer_user_id: 'held' },
  );
  await waitForBlocked(first);
  const record = recorderOf(first);
  await record(first.app, { customer_user_id: 'ann', status: 'organic', attribution_user_id: 'posted' });
  await release();
  await importing;
  const rows = await db.selectFrom('profile_attribution').selectAll().execute();
  expect(rows).toMatchObject([{ attribution_user_id: 'posted', superseded_keys: [] }]);
  expect(await db.selectFrom('label_pending').selectAll().execute()).toHaveLength(1);
  await first.close();
});

test('profiles that requests create while a batch is being written are not created again by the import', async () => {
  const { db } = world.database;
  const names = Array.from({ length: 2_000 }, (_, i) => `person ${i}`);
  const importing = world.profiles(...names.map((customer_user_id) => ({ customer_user_id, country: 'DE' })));
  let isOver = false;
  async function create(customer_user_id: string): Promise<void> {
    if (isOver) return;
    const identity = { customer_user_id, customer_source: 'customer_user_id', profile_id: null };
    await createProfile({ db }, { app: world.app, identity, body: {} });
  }
  // From the other end, so that some are still to be created when the batch is written.
  const requests = (async () => {
    for (const name of names.toReversed()) await create(name);
  })();
  const summary = await importing.finally(() => {
    isOver = true;
  });
  await requests;
  expect(summary).toEqual({ read: 2_000, written: 2_000, unchanged: 0, rejected: 0 });
  const { rows } = await sql<{ people: number; names: number; german: number }>`
    select count(*)::integer as people, count(distinct customer_user_id)::integer as names,
      count(*) filter (where country = 'DE')::integer as german from profile`.execute(db);
  expect(rows).toEqual([{ people: 2_000, names: 2_000, german: 2_000 }]);
});

test('an attribution that another import changed while its profile was locked is replaced', async () => {
  const ann = {
    customer_user_id: 'ann',
    country: 'US',
    attribution: { status: 'non_organic', attribution_user_id: 'u-1' },
  };
  await world.profiles(ann, { customer_user_id: 'bob', attribution: { status: 'organic' } });
  const held = await world.database.db.startTransaction().execute();
  await sql`update profile set country = 'FR' where customer_user_id = 'ann'`.execute(held);
  await sql`
    update profile_attribution a set attribution_key = other.attribution_key, attribution_user_id = null
    from profile_attribution other
    where a.profile_id = (select profile_id from profile where customer_user_id = 'ann')
      and other.profile_id = (select profile_id from profile where customer_user_id = 'bob')`.execute(held);
  const importing = world.profiles(ann);
  await waitForBlocked(world);
  await held.commit().execute();
  expect(await importing).toMatchObject({ written: 1 });
  const { rows } = await sql`
    select country, status, attribution_user_id from profile
    join profile_attribution using (app_id, profile_id) join dim_attribution using (attribution_key)
    where customer_user_id = 'ann'`.execute(world.database.db);
  expect(rows).toEqual([{ country: 'US', status: 'non_organic', attribution_user_id: 'u-1' }]);
});

test('two concurrent imports of the same people, in opposite orders, write each of them once', async () => {
  const people = Array.from({ length: 900 }, (_, index) => ({ customer_user_id: `user-${index}`, country: 'US' }));
  const there = await world.file('there.ndjson', toNdjson(people));
  const back = await world.file('back.ndjson', toNdjson(people.toReversed()));
  const summaries = await Promise.all([there, back].map((file) => world.importAs(PROFILES, file)));
  expect(summaries.map(({ written }) => written).sort()).toEqual([0, 900]);
  expect(await world.database.db.selectFrom('profile_identity').selectAll().execute()).toHaveLength(900);
  expect(await world.database.db.selectFrom('fact_install').selectAll().execute()).toHaveLength(900);
});

test('a chain of a deleted profile that a request moves meanwhile stays where it went', async () => {
  await world.profiles({ customer_user_id: 'gone' }, { customer_user_id: 'cid' }, { customer_user_id: 'bob' });
  await world.transactions({ ...MONTH, customer_user_id: 'gone' });
  const [gone, cid] = await Promise.all(['gone', 'cid'].map(world.profileIdOf));
  await sql`update profile set deleted_at = now() where profile_id = ${gone}`.execute(world.database.db);
  const held = await world.database.db.startTransaction().execute();
  await sql`select from profile where profile_id = ${gone} for no key update`.execute(held);
  const importing = world.transactions({ ...RENEWAL, customer_user_id: 'bob' });
  await waitForBlocked(world);
  await held.updateTable('purchase_chain').set({ profile_id: cid! }).execute();
  await held.commit().execute();
  expect(await importing).toMatchObject({ written: 0, rejected: 1 });
  const owners = await world.database.db.selectFrom('purchase_chain').select('profile_id').execute();
  expect(owners).toEqual([{ profile_id: cid }]);
});

test('a name that moves to another profile while its profile is locked is followed', async () => {
  await world.profiles({ customer_user_id: 'moving' }, { customer_user_id: 'next' });
  const [former, next] = [await world.profileIdOf('moving'), await world.profileIdOf('next')];
  const held = await world.database.db.startTransaction().execute();
  await sql`update profile set customer_user_id = null where profile_id = ${former}`.execute(held);
  const importing = world.transactions({ ...MONTH, customer_user_id: 'moving' });
  await waitForBlocked(world);
  await sql`update profile set customer_user_id = 'moving' where profile_id = ${next}`.execute(held);
  await sql`delete from profile_identity where customer_user_id = 'next'`.execute(held);
  await sql`update profile_identity set profile_id = ${next} where customer_user_id = 'moving'`.execute(held);
  await held.commit().execute();
  expect(await importing).toMatchObject({ written: 1, rejected: 0 });
  const owners = await world.database.db.selectFrom('purchase').select('profile_id').execute();
  expect(owners).toEqual([{ profile_id: next }]);
});
