// Importing profiles (analytics.md 1, "The profile record").
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { createWorld, NOW, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  await sql`truncate profile, profile_identity, profile_attribution, label_pending, fact_install, purchase, purchase_chain cascade`.execute(
    world.database.db,
  );
});
afterAll(() => world.close());

async function profileOf(customerUserId: string) {
  const { rows } = await sql<Record<string, unknown>>`
    select p.profile_id, p.customer_user_id, p.installed_at, p.country, p.store, p.custom_attributes,
      d.status, d.campaign, d.source, a.attribution_user_id, a.superseded_user_ids,
      exists (select from label_pending w where w.profile_id = p.profile_id) as is_label_pending,
      f.installed_day, c.country as fact_country, s.store as fact_store, f.attribution_key = d.attribution_key as is_labelled
    from profile p
    join profile_identity i using (app_id, profile_id)
    left join profile_attribution a using (app_id, profile_id)
    left join dim_attribution d on d.attribution_key = a.attribution_key
    join fact_install f on f.profile_id = p.profile_id
    join dim_country c using (country_key)
    join dim_store s using (store_key)
    where i.customer_user_id = ${customerUserId}`.execute(world.database.db);
  expect(rows).toHaveLength(1);
  return rows[0] as Record<string, unknown>;
}

/** Every table that holds profiles, as text. */
async function everything(): Promise<string> {
  const { rows } = await sql<{ state: string }>`
    select (select json_agg(to_jsonb(p) order by profile_id) from profile p)::text
      || (select json_agg(i order by customer_user_id) from profile_identity i)::text
      || coalesce((select json_agg(a order by profile_id) from profile_attribution a)::text, '')
      || (select json_agg(f order by profile_id) from fact_install f)::text as state`.execute(world.database.db);
  return rows[0]?.state ?? '';
}

const ANN = {
  customer_user_id: 'ann',
  installed_at: '2025-01-02T10:00:00.123456+02:00',
  country: 'us',
  store: 'app_store',
  custom_attributes: { plan: 'gold', level: 3, is_new: true },
  attribution: { status: 'non_organic', campaign: 'spring', channel: '', attribution_user_id: 'u-1' },
};

describe('a new profile', () => {
  test('has what its record says, and its install counts immediately', async () => {
    expect(await world.profiles(ANN)).toEqual({ read: 1, written: 1, unchanged: 0, rejected: 0 });
    expect(await profileOf('ann')).toMatchObject({
      customer_user_id: 'ann',
      installed_at: '2025-01-02 08:00:00.123456+00',
      country: 'US',
      store: 'app_store',
      custom_attributes: { plan: 'gold', level: 3, is_new: 1 },
      status: 'non_organic',
      campaign: 'spring',
      source: 'custom',
      attribution_user_id: 'u-1',
      is_label_pending: false,
      installed_day: 20090,
      fact_country: 'us',
      fact_store: 'app_store',
      is_labelled: true,
    });
  });

  test('is installed now unless it says otherwise, and has no country, store or attribution', async () => {
    await world.profiles({ customer_user_id: 'bob' });
    expect(await profileOf('bob')).toMatchObject({
      installed_at: NOW.toISOString().replace('T', ' ').replace('.000Z', '+00'),
      country: null,
      fact_country: '',
      fact_store: '',
      status: null,
    });
  });

  test('takes the profile_id that is given, in upper or lower case', async () => {
    const id = randomUUID();
    await world.profiles({ profile_id: id.toUpperCase(), customer_user_id: 'cid' });
    expect(await profileOf('cid')).toMatchObject({ profile_id: id });
  });

  test('names the source of its attribution if it has one', async () => {
    await world.profiles({ ...ANN, attribution: { status: 'organic', source: 'branch' } });
    expect(await profileOf('ann')).toMatchObject({ status: 'organic', source: 'branch' });
  });

  test.each([null, ''])('has the source custom if its attribution names %j', async (source) => {
    await world.profiles({ ...ANN, attribution: { status: 'organic', channel: 'unnamed', source } });
    expect(await profileOf('ann')).toMatchObject({ status: 'organic', source: 'custom' });
  });
});

describe('a profile that exists', () => {
  test('keeps what a record does not mention', async () => {
    await world.profiles(ANN);
    const before = await profileOf('ann');
    await world.profiles({
      customer_user_id: 'ann',
      country: 'DE',
      store: null,
      attribution: null,
      installed_at: null,
    });
    const moved = { ...before, country: 'DE', fact_country: 'de' };
    expect(await profileOf('ann')).toEqual(moved);
    await world.profiles({ customer_user_id: 'ann', store: 'play_store' });
    expect(await profileOf('ann')).toEqual({ ...moved, store: 'play_store', fact_store: 'play_store' });
  });

  test('has its attribution replaced as a whole; the superseded one is kept', async () => {
    await world.profiles(ANN);
    await world.profiles({ customer_user_id: 'ann', attribution: { status: 'organic' } });
    expect(await profileOf('ann')).toMatchObject({
      status: 'organic',
      campaign: null,
      attribution_user_id: null,
      superseded_user_ids: ['u-1'],
      is_label_pending: true,
    });
  });

  test('has its facts relabelled when it gets its first attribution', async () => {
    await world.profiles({ customer_user_id: 'bob' });
    await world.profiles({ customer_user_id: 'bob', attribution: { status: 'organic' } });
    expect(await profileOf('bob')).toMatchObject({ status: 'organic', is_label_pending: true, is_labelled: false });
  });

  test('is found by profile_id and gets the customer user id that comes with it; its previous one is free', async () => {
    const id = randomUUID();
    await world.profiles({ profile_id: id }, { profile_id: id, customer_user_id: 'old' });
    await world.profiles({ profile_id: id, customer_user_id: 'new' });
    expect(await profileOf('new')).toMatchObject({ profile_id: id });
    await world.profiles({ customer_user_id: 'old' });
    expect((await profileOf('old')).profile_id).not.toBe(id);
  });

  test('is found by customer_user_id if the profile_id that comes with it names nobody; its own id stays', async () => {
    await world.profiles(ANN);
    const before = await profileOf('ann');
    const summary = await world.profiles({ profile_id: randomUUID(), customer_user_id: 'ann', country: 'DE' });
    expect(summary).toMatchObject({ written: 1, rejected: 0 });
    expect(await profileOf('ann')).toEqual({ ...before, country: 'DE', fact_country: 'de' });
  });

  test('has single attributes changed and deleted', async () => {
    await world.profiles(ANN, {
      customer_user_id: 'ann',
      custom_attributes: { plan: null, level: '', 'a.b-c_1': 0.5 },
    });
    expect((await profileOf('ann')).custom_attributes).toEqual({ is_new: 1, 'a.b-c_1': 0.5 });
  });

  test('takes attributes as an array too, as some services export them', async () => {
    await world.profiles(ANN, {
      customer_user_id: 'ann',
      custom_attributes: [
        { key: 'plan', value: 'silver' },
        { key: 'level', value: null },
      ],
    });
    expect((await profileOf('ann')).custom_attributes).toEqual({ plan: 'silver', is_new: 1 });
  });

  test('moves the install date of its transactions too', async () => {
    await world.profiles(ANN);
    await world.transactions({
      customer_user_id: 'ann',
      purchase_type: 'one_time_purchase',
      store: 'app_store',
      store_product_id: 'coins',
      store_transaction_id: 't1',
      store_original_transaction_id: 't1',
      price: { country: 'US', currency: 'USD', value: 1 },
      purchased_at: '2025-03-01T00:00:00Z',
    });
    await world.profiles({ customer_user_id: 'ann', installed_at: '2024-12-31T00:00:00Z' });
    const fact = await world.database.db.selectFrom('fact_transaction').select('installed_at').executeTakeFirst();
    expect(fact).toEqual({ installed_at: '2024-12-31 00:00:00+00' });
  });
});

test('importing the same file twice changes nothing', async () => {
  const id = randomUUID();
  const records = [ANN, { profile_id: id, customer_user_id: 'bob' }, { customer_user_id: 'ann', country: 'DE' }];
  await world.profiles(...records);
  const before = await everything();
  expect(await world.profiles(...records)).toEqual({ read: 3, written: 0, unchanged: 3, rejected: 0 });
  expect(await everything()).toBe(before);
});

test('an app that keeps the first attribution keeps it in imports too', async () => {
  const first = await createWorld({ attribution_policy: 'first' });
  await first.profiles(ANN, { customer_user_id: 'ann', attribution: { status: 'organic' } });
  const row = await first.database.db
    .selectFrom('profile_attribution')
    .select('attribution_user_id')
    .executeTakeFirst();
  expect(row).toEqual({ attribution_user_id: 'u-1' });
  await first.close();
});

describe('rejected with line and reason, while other records are kept', () => {
  const TAKEN = randomUUID();

  const CASES: readonly (readonly [string, object, string])[] = [
    ['no identifier', { country: 'US' }, 'customer_user_id: Either customer_user_id or profile_id is required.'],
    ['blank identifiers', { customer_user_id: '', profile_id: null }, 'customer_user_id: Either'],
    ['a profile_id that is not a UUID', { profile_id: 'x' }, 'profile_id: Must be a UUID.'],
    ['a long customer_user_id', { customer_user_id: 'x'.repeat(256) }, 'customer_user_id: Must have at most 255'],
    ['U+0000', { customer_user_id: 'a\u0000' }, 'customer_user_id: Must not contain U+0000'],
    [
      'two identifiers of two profiles',
      { profile_id: TAKEN, customer_user_id: 'ann' },
      'customer_user_id: Does not belong to the profile that profile_id names.',
    ],
    ['a country of three letters', { customer_user_id: 'x', country: 'USA' }, 'country: Must be a 2-letter'],
    ['a date without time', { customer_user_id: 'x', installed_at: '2025-01-01' }, 'installed_at: Must be an ISO 8601'],
    ['a store without a name', { customer_user_id: 'x', store: '' }, 'store: Must have at least 1'],
    ['an attribution without status', { customer_user_id: 'x', attribution: {} }, 'attribution.status:'],
    [
      'an unknown status',
      { customer_user_id: 'x', attribution: { status: 'paid' } },
      'attribution.status: Must be one of: organic, non_organic, unknown.',
    ],
    [
      'an attribute key',
      { customer_user_id: 'x', custom_attributes: { 'a b': 1 } },
      'custom_attributes: The key "a b" must have',
    ],
    [
      'several faults',
      { customer_user_id: 'x', country: 'GER', custom_attributes: { 'a b': 1 } },
      'country: Must be a 2-letter country code. custom_attributes: The key "a b" must have',
    ],
    [
      'an attribute value',
      { customer_user_id: 'x', custom_attributes: { a: [] } },
      'custom_attributes: The value of a must be a string, a number or a boolean.',
    ],
    [
      'a long attribute',
      { customer_user_id: 'x', custom_attributes: { a: 'x'.repeat(31) } },
      'custom_attributes: The value of a must have at most 30 characters.',
    ],
    [
      '31 attributes',
      {
        customer_user_id: 'x',
        custom_attributes: Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`k${index}`, 1])),
      },
      'custom_attributes: A profile has at most 30 custom attributes; with k30 it would have 31.',
    ],
    ['an array', [], 'Must be a JSON object.'],
  ];

  test('every kind of fault', async () => {
    await world.profiles({ profile_id: TAKEN }, ANN);
    const records = CASES.map(([, record]) => record);
    const summary = await world.profiles(...records, { customer_user_id: 'good' });
    expect(summary).toEqual({ read: CASES.length + 1, written: 1, unchanged: 0, rejected: CASES.length });
    expect(await world.rejects('profiles.ndjson')).toEqual(
      CASES.map(([, record, reason], index) => ({ line: index + 1, reason: expect.stringContaining(reason), record })),
    );
    await profileOf('good');
  });

  test('of two records with 31 attributes together, the one that goes too far', async () => {
    const attributes = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${from + index}`, 'v']));
    const summary = await world.profiles(
      { customer_user_id: 'x', custom_attributes: attributes(0, 30) },
      { customer_user_id: 'x', custom_attributes: attributes(30, 1), country: 'US' },
    );
    expect(summary).toMatchObject({ written: 1, rejected: 1 });
    expect(await profileOf('x')).toMatchObject({ country: null });
  });

  test('records for a deleted profile', async () => {
    await world.profiles({ profile_id: TAKEN });
    await sql`update profile set deleted_at = now()`.execute(world.database.db);
    await world.profiles({ customer_user_id: 'ann' });
    const records = [
      { profile_id: TAKEN, country: 'US' },
      { profile_id: TAKEN, customer_user_id: 'ann' },
    ];
    expect(await world.profiles(...records)).toMatchObject({ rejected: 2 });
    const reason = 'profile_id: The profile was deleted.';
    expect(await world.rejects('profiles.ndjson')).toMatchObject([{ reason }, { reason }]);
  });

  test('a record that is nested too deeply to be written down', async () => {
    const nested = '['.repeat(100_000) + ']'.repeat(100_000);
    const content = `{"country":"US","x":${nested}}\n{"customer_user_id":"a","x":${nested}}\n{"country":"US"}\n`;
    const summary = await world.importAs(PROFILES, await world.file('nested.ndjson', content));
    expect(summary).toEqual({ read: 3, written: 1, unchanged: 0, rejected: 2 });
    const reason = expect.stringContaining('customer_user_id');
    expect(await world.rejects('nested.ndjson')).toEqual([
      { line: 1, reason, text: '' },
      { line: 3, reason, record: { country: 'US' } },
    ]);
  });

  test('lines that are not records', async () => {
    const content = Buffer.concat([
      Buffer.from('{"customer_user_id":"a"}\nnonsense\n{"customer_user_id":"'),
      Buffer.from([0xff]),
      Buffer.from(`"}\n${'x'.repeat(1024 * 1024 + 1)}\n{"customer_user_id":"b"}`),
    ]);
    expect(await world.importAs(PROFILES, await world.file('broken.ndjson', content))).toEqual({
      read: 5,
      written: 2,
      unchanged: 0,
      rejected: 3,
    });
    expect(await world.rejects('broken.ndjson')).toMatchObject([
      { line: 2, reason: 'The line is not JSON.', text: 'nonsense' },
      { line: 3, reason: 'The record is not UTF-8 text.' },
      { line: 4, reason: 'The record is longer than 1 MiB.' },
    ]);
  });
});

test('the rejects of an earlier run are removed by a run without any', async () => {
  await world.profiles({ country: 'US' });
  expect(await world.rejects('profiles.ndjson')).toHaveLength(1);
  await world.profiles(ANN);
  expect(await world.rejects('profiles.ndjson')).toEqual([]);
});

test('CSV has the same outcome as NDJSON', async () => {
  const csv = [
    'customer_user_id,installed_at,country,store,attribution_status,attribution_campaign,attribution_user_id,custom_attributes_plan',
    'ann,2025-01-02T10:00:00.123456+02:00,us,app_store,non_organic,spring,u-1,gold',
    'bob,,,,,,,',
    'cid,,USA,,,,,',
  ].join('\n');
  const path = await world.file('profiles.csv', csv);
  expect(await world.importAs(PROFILES, path)).toMatchObject({ written: 2, rejected: 1 });
  expect(await profileOf('ann')).toMatchObject({
    country: 'US',
    custom_attributes: { plan: 'gold' },
    campaign: 'spring',
    attribution_user_id: 'u-1',
  });
  expect(await world.rejects('profiles.csv')).toEqual([
    {
      line: 4,
      reason: 'country: Must be a 2-letter country code.',
      record: { customer_user_id: 'cid', country: 'USA' },
    },
  ]);
});

test('other apps are not affected: identifiers belong to an app', async () => {
  const { db } = world.database;
  await world.profiles(ANN);
  const other = await createWorld();
  await other.profiles(ANN);
  expect(await db.selectFrom('profile').selectAll().execute()).toHaveLength(1);
  await other.close();
});
