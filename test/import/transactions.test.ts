// Importing transactions (analytics.md 1, "The transaction record"). What charts make of them is tested with charts.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DURATIONS } from '../../src/facts/codes.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { createWorld, listFacts, MONTH, RENEWAL, type World } from './world.ts';

const BOB_ID = randomUUID();

let world: World;
beforeAll(async () => {
  world = await createWorld({ sharing: 'transfer' });
  const [ann, bob] = [{ customer_user_id: 'ann' }, { profile_id: BOB_ID, customer_user_id: 'bob' }];
  await world.profiles(ann, bob, { customer_user_id: 'cid' }, { customer_user_id: 'gone' });
});
beforeEach(async () => {
  await sql`truncate purchase, purchase_chain, fact_transaction`.execute(world.database.db);
});
afterAll(() => world.close());

const OFFER = { category: 'promotional', type: 'pay_up_front' };

const facts = () => listFacts(world);

async function everything(): Promise<string> {
  const { rows } = await sql<{ state: string }>`
    select (select json_agg(p order by store_transaction_id) from purchase p)::text
      || (select json_agg(c order by store_original_transaction_id) from purchase_chain c)::text
      || (select json_agg(f order by purchase_no) from fact_transaction f)::text as state`.execute(world.database.db);
  return rows[0]?.state ?? '';
}

test('transactions are stored and counted, even of products that nobody configured', async () => {
  expect(await world.transactions(MONTH, RENEWAL)).toEqual({ read: 2, written: 2, unchanged: 0, rejected: 0 });
  expect(await facts()).toMatchObject([
    { purchased_at: '2025-01-09 12:00:00.000001+00', active_until: '2025-02-09 12:00:00+00', lapse_at: null },
    { revenue: 10_000_000_000n, proceeds: 7_000_000_000n, lapse_at: '2025-03-09 12:00:00+00' },
  ]);
});

test('importing the same file twice changes nothing', async () => {
  await world.transactions(MONTH, RENEWAL);
  const before = await everything();
  expect(await world.transactions(MONTH, RENEWAL)).toEqual({ read: 2, written: 0, unchanged: 2, rejected: 0 });
  expect(await everything()).toBe(before);
});

test('a repeated id replaces the transaction as a whole; within a file the last one counts', async () => {
  const withOffer = { ...MONTH, offer: { category: 'introductory', type: 'pay_up_front' }, paywall_id: 'p1' };
  expect(await world.transactions(withOffer, { ...MONTH, price: { ...MONTH.price, value: 12 } })).toMatchObject({
    read: 2,
    written: 1,
    unchanged: 1,
  });
  const rows = await world.database.db.selectFrom('purchase').selectAll().execute();
  expect(rows).toMatchObject([{ price_value: '12', offer_category: null, paywall_id: null }]);
  expect(await facts()).toMatchObject([{ revenue: 12_000_000_000n }]);
});

test('the last transaction of a file counts in an existing chain too', async () => {
  await world.transactions(MONTH);
  expect(
    await world.transactions({ ...MONTH, paywall_id: 'p1' }, { ...MONTH, price: { ...MONTH.price, value: 12 } }),
  ).toMatchObject({ read: 2, written: 1, unchanged: 1 });
  const rows = await world.database.db.selectFrom('purchase').selectAll().execute();
  expect(rows).toMatchObject([{ price_value: '12', paywall_id: null }]);
});

test('whatever changes in a transaction is in its fact', async () => {
  const changes: object[] = [
    { billing_issue_detected_at: '2025-02-01T00:00:00Z' },
    { grace_period_expires_at: '2025-02-20T00:00:00Z' },
    { billing_issue_detected_at: '2025-02-02T00:00:00Z' },
    { renew_status: false },
    { renew_status_changed_at: '2025-02-03T00:00:00Z' },
    { cancellation_reason: 'billing_error' },
    { cancellation_reason: 'refund', refunded_at: '2025-03-01T00:00:00Z' },
    { refunded_at: '2025-03-02T00:00:00Z' },
    { offer: { category: 'introductory', type: 'pay_up_front' } },
    { paywall_id: 'p1' },
    { store_product_id: 'other' },
    { price: { ...MONTH.price, country: 'DE' } },
    { price: { ...MONTH.price, country: 'DE', tax_usd: 1 } },
    { price: { ...MONTH.price, country: 'DE', tax_usd: 0.5, proceeds_usd: 6.5 } },
  ];
  let record = MONTH;
  await world.transactions(record);
  for (const change of changes) {
    const before = await facts();
    record = { ...record, ...change };
    expect(await world.transactions(record)).toMatchObject({ written: 1 });
    expect(await facts(), JSON.stringify(change)).not.toEqual(before);
  }
});

test('records in another order make the same history', async () => {
  await world.transactions(RENEWAL, MONTH);
  expect(await facts()).toMatchObject([{ lapse_at: null }, { lapse_at: '2025-03-09 12:00:00+00' }]);
});

test('chains that were begun before continue beside new ones', async () => {
  await world.transactions(MONTH);
  const own = { store_transaction_id: 'b1', store_original_transaction_id: 'b1' };
  const summary = await world.transactions({ ...MONTH, ...own, customer_user_id: 'bob' }, RENEWAL, MONTH);
  expect(summary).toEqual({ read: 3, written: 2, unchanged: 1, rejected: 0 });
  expect(await facts()).toHaveLength(3);
  const ended = await world.database.db.selectFrom('fact_transaction').where('lapse_at', 'is not', null).selectAll();
  expect(await ended.execute()).toHaveLength(2);
  const pending = await sql`
    select from fact_transaction join fact_pending using (app_key, profile_id, purchase_no)`.execute(world.database.db);
  expect(pending.rows).toHaveLength(3);
});

test.each([
  ['at the end of a grace period', '2025-02-11T12:00:00Z', null],
  ['later', '2025-02-11T12:00:00.000001Z', '2025-02-11 12:00:00+00'],
])('grace ends in a billing issue if renewal is later: renewed %s', async (_, purchased_at, billing_issue_at) => {
  const grace = { billing_issue_detected_at: MONTH.expires_at, grace_period_expires_at: '2025-02-11T12:00:00Z' };
  await world.transactions({ ...MONTH, ...grace }, { ...RENEWAL, purchased_at });
  expect(await facts()).toMatchObject([{ billing_issue_at, lapse_at: billing_issue_at }, { billing_issue_at: null }]);
});

test('chains with one id are told apart by their store and by what they sell', async () => {
  const month = { ...MONTH, store_transaction_id: 'm' };
  const coins = { ...RENEWAL, purchase_type: 'one_time_purchase', store_transaction_id: 'a1' };
  await world.transactions(month, coins, { ...RENEWAL, store: 'play_store' });
  expect((await facts()).map(({ lapse_at }) => lapse_at).sort()).toEqual([
    '2025-02-09 12:00:00+00',
    '2025-03-09 12:00:00+00',
    null,
  ]);
});

test('a value named for the first time is stored even if the rest of the record was named before', async () => {
  const own = (id: string) => ({ ...MONTH, store_transaction_id: id, store_original_transaction_id: id });
  await world.transactions(
    { ...own('n1'), placement_id: 'known' },
    { ...own('n2'), placement_id: 'another' },
    { ...own('n3'), placement_id: 'known', store: 'named once', store_product_id: 'named once' },
  );
  expect(await facts()).toHaveLength(3);
});

test('placements whose parts read the same when joined are told apart', async () => {
  const [one, other] = [
    { paywall_id: 'a/b', audience_id: 'c' },
    { paywall_id: 'a', audience_id: 'b/c' },
  ];
  await world.transactions({ ...MONTH, ...one }, { ...RENEWAL, ...other });
  const { rows } = await sql`
    select paywall_id, audience_id from fact_transaction join dim_placement using (placement_key)
    order by purchased_at`.execute(world.database.db);
  expect(rows).toEqual([one, other]);
});

test('every text is stored as it is, even if it looks like the end of something', async () => {
  const odd = { store: 'a\tb\\N', store_product_id: '\\.', store_transaction_id: 'x\ny\r', paywall_id: '\\N' };
  const id = 'x"{}\\\\,\'é\u{1f600}\u0001';
  const record = { ...MONTH, ...odd, store_original_transaction_id: id, offer: { ...OFFER, id } };
  expect(await world.transactions(record)).toMatchObject({ written: 1 });
  const rows = await world.database.db.selectFrom('purchase').selectAll().execute();
  expect(rows).toMatchObject([{ ...odd, store_original_transaction_id: id, offer_id: id }]);
  expect(await facts()).toHaveLength(1);
  expect(await world.transactions(record)).toMatchObject({ unchanged: 1 });
});

test('batches written concurrently have the same outcome as one after the other', async () => {
  const coins = (id: number, customer_user_id: string, value = 1) => ({
    ...MONTH,
    customer_user_id,
    purchase_type: 'one_time_purchase',
    store_transaction_id: `c${id}`,
    store_original_transaction_id: `c${id}`,
    price: { ...MONTH.price, value },
  });
  // For the records of one profile a batch grows to twice its size: 2,000, then 10,500 are in the first two. The third
  // has chains of the second, under another name of the profile.
  const nameless = { customer_user_id: undefined, profile_id: BOB_ID };
  const first = Array.from({ length: 12_500 }, (_, id) => ({ ...coins(id, ''), ...nameless }));
  const again = Array.from({ length: 600 }, (_, index) => coins(12_200 + index, 'bob', 2));
  const anns = Array.from({ length: 1_000 }, (_, index) => coins(12_700 + index, 'ann'));
  const summary = await world.transactions(...first, ...again, ...anns);
  expect(summary).toEqual({ read: 14_100, written: 14_000, unchanged: 0, rejected: 100 });
  const { rows } = await sql<{
    twos: bigint;
    ones: bigint;
  }>`select count(*) filter (where revenue = 2000000000) as twos,
    count(*) filter (where revenue = 1000000000) as ones from fact_transaction`.execute(world.database.db);
  expect(rows).toEqual([{ twos: 600n, ones: 12_200n + 900n }]);
});

test.each([undefined, null, ''])(
  'a profile can be named by profile_id, with a customer_user_id of %j',
  async (none) => {
    await world.transactions({ ...MONTH, customer_user_id: none, profile_id: BOB_ID.toUpperCase() });
    expect(await facts()).toMatchObject([{ profile_id: BOB_ID }]);
  },
);

test.each([null, ''])('a profile can be named by customer_user_id, with a profile_id of %j', async (none) => {
  await world.transactions({ ...MONTH, customer_user_id: 'bob', profile_id: none });
  expect(await facts()).toMatchObject([{ profile_id: BOB_ID }]);
});

test('no event is sent, even if there is a webhook', async () => {
  const { db } = world.database;
  await sql`insert into webhook (app_id, url, secret, state_changed_at, created_at)
    values (${world.app.app_id}, 'http://localhost/', 'whsec_x', now(), now())`.execute(db);
  await world.transactions(MONTH);
  expect(await db.selectFrom('webhook_event').selectAll().execute()).toEqual([]);
});

describe('rejected, while other records are kept', () => {
  const CASES: readonly (readonly [string, object, string])[] = [
    ['no identifier', { customer_user_id: undefined }, 'customer_user_id: Either customer_user_id or profile_id'],
    ['an unknown profile', { customer_user_id: 'zed' }, 'customer_user_id: The app has no such profile.'],
    [
      'an unknown profile_id',
      { customer_user_id: null, profile_id: randomUUID() },
      'profile_id: The app has no such profile.',
    ],
    ['two profiles', { profile_id: BOB_ID }, 'customer_user_id: Does not name the same profile as profile_id.'],
    [
      'another profile in the chain',
      { customer_user_id: 'bob' },
      'store_original_transaction_id: The chain belongs to the profile',
    ],
    [
      'a currency without rate',
      { price: { country: 'CH', currency: 'CHF', value: 5 } },
      'price.value_usd: There is no',
    ],
    ['dates out of order', { expires_at: '2025-01-01T00:00:00Z' }, 'expires_at: Must be after purchased_at.'],
    ['a price below 0', { price: { ...MONTH.price, value: -1 } }, 'price.value: Must be at least 0.'],
    [
      'seven decimals',
      { price: { ...MONTH.price, value: 0.0000001 } },
      'price.value: Must have at most 6 decimal places',
    ],
    [
      'nested members that are absent or null, in the same words',
      { offer: { category: 'introductory' }, price: { ...MONTH.price, value: null } },
      'price.value: The field price.value is required. offer.type: The field offer.type is required.',
    ],
    ['several faults', { store: null, renew_status: null }, 'store: The field store is required. renew_status:'],
  ];

  test('every kind of fault', async () => {
    await world.transactions(MONTH);
    const records = CASES.map(([, change]) => ({ ...MONTH, store_transaction_id: 'bad', ...change }));
    const summary = await world.transactions(...records, RENEWAL);
    expect(summary).toEqual({ read: CASES.length + 1, written: 1, unchanged: 0, rejected: CASES.length });
    expect(await world.rejects('transactions.ndjson')).toEqual(
      CASES.map(([, , reason], index) => ({
        line: index + 1,
        reason: expect.stringContaining(reason),
        record: JSON.parse(JSON.stringify(records[index])),
      })),
    );
    expect(await facts()).toHaveLength(2);
  });

  test('a transaction for a deleted profile', async () => {
    const deleted = randomUUID();
    await world.profiles({ profile_id: deleted });
    await world.database.db
      .updateTable('profile')
      .set({ deleted_at: '2025-01-02T00:00:00Z' })
      .where('profile_id', '=', deleted)
      .execute();
    expect(await world.transactions({ ...MONTH, customer_user_id: null, profile_id: deleted })).toMatchObject({
      written: 0,
      rejected: 1,
    });
    expect(await world.rejects('transactions.ndjson')).toMatchObject([
      { line: 1, reason: 'profile_id: The app has no such profile.' },
    ]);
  });

  test('a line that is not an object, for that alone', async () => {
    expect(await world.transactions([])).toMatchObject({ read: 1, rejected: 1 });
    expect(await world.rejects('transactions.ndjson')).toEqual([
      { line: 1, reason: 'Must be a JSON object.', record: [] },
    ]);
  });

  test('of two profiles that bring one chain, the first has it, even if the app transfers chains', async () => {
    const bobs = { ...RENEWAL, customer_user_id: 'bob' };
    expect(await world.transactions(MONTH, bobs)).toMatchObject({ written: 1, rejected: 1 });
    expect(await world.transactions(MONTH, bobs)).toMatchObject({ unchanged: 1, rejected: 1 });
    const reason = `store_original_transaction_id: The chain belongs to the profile ${await world.profileIdOf('ann')}.`;
    expect(await world.rejects('transactions.ndjson')).toMatchObject([{ line: 2, reason }]);
  });
});

test('a transaction whose chain comes from a deleted profile counts as written, even if nothing else of it changed', async () => {
  await world.profiles({ customer_user_id: 'left' });
  await world.transactions({ ...MONTH, customer_user_id: 'left' });
  await sql`update profile set deleted_at = now() where profile_id = ${await world.profileIdOf('left')}`.execute(
    world.database.db,
  );
  expect(await world.transactions(MONTH, MONTH, RENEWAL)).toMatchObject({ written: 2, unchanged: 1, rejected: 0 });
  expect(await world.transactions(MONTH, RENEWAL)).toMatchObject({ written: 0, unchanged: 2 });
});

test('a text that reads null differs from an absent one', async () => {
  const chain = (id: string) => ({ store_transaction_id: id, store_original_transaction_id: id });
  const offer = { category: 'introductory', type: 'pay_up_front' };
  const summary = await world.transactions(
    { ...MONTH, ...chain('n1'), offer },
    { ...MONTH, ...chain('n2'), offer: { ...offer, id: 'null' } },
    { ...MONTH, ...chain('n3'), offer, paywall_id: 'null' },
  );
  expect(summary).toMatchObject({ written: 3, rejected: 0 });
  expect(await facts()).toHaveLength(3);
});

test('CSV has the same outcome as NDJSON', async () => {
  const csv = [
    'customer_user_id,purchase_type,store,store_product_id,store_transaction_id,store_original_transaction_id,price_country,price_currency,price_value,purchased_at,originally_purchased_at,expires_at,renew_status,offer_category,offer_type',
    'ann,subscription,app_store,monthly,c1,c1,US,USD,9.99,2025-01-09T12:00:00Z,2025-01-09T12:00:00Z,2025-02-09T12:00:00Z,true,,',
    'ann,subscription,app_store,monthly,c2,c2,US,USD,nine,2025-01-09T12:00:00Z,2025-01-09T12:00:00Z,2025-02-09T12:00:00Z,yes,,',
  ].join('\r\n');
  expect(await world.importAs(TRANSACTIONS, await world.file('t.csv', csv))).toMatchObject({ written: 1, rejected: 1 });
  expect(await facts()).toMatchObject([{ revenue: 9_990_000_000n }]);
  expect(await world.rejects('t.csv')).toMatchObject([
    { line: 3, reason: 'price.value: Must be a number. renew_status: Must be a boolean or null.' },
  ]);
});

describe('what an unconfigured product sells', () => {
  /** Length of the period in days → its class; a part of a day is rounded. */
  const LENGTHS: [number, (typeof DURATIONS)[number]][] = [
    [5.49, 'Uncategorized'],
    [5.5, 'Weekly'],
    [8.49, 'Weekly'],
    [8.5, 'Uncategorized'],
    [27.49, 'Uncategorized'],
    [27.96, 'Monthly'],
    [31, 'Monthly'],
    [32, 'Uncategorized'],
    [58, 'Uncategorized'],
    [59, '2 months'],
    [62, '2 months'],
    [63, 'Uncategorized'],
    [88, 'Uncategorized'],
    [89, '3 months'],
    [93, '3 months'],
    [94, 'Uncategorized'],
    [179, 'Uncategorized'],
    [180, '6 months'],
    [184, '6 months'],
    [185, 'Uncategorized'],
    [359, 'Uncategorized'],
    [360, 'Annual'],
    [372, 'Annual'],
    [373, 'Uncategorized'],
  ];

  test('is classified by the length of its period', async () => {
    const begins = Date.parse(MONTH.originally_purchased_at);
    const records = LENGTHS.map(([days], i) => ({
      ...MONTH,
      store_product_id: 'unconfigured',
      store_transaction_id: `l${i}`,
      store_original_transaction_id: `l${i}`,
      purchased_at: MONTH.originally_purchased_at,
      expires_at: new Date(begins + days * 86_400_000).toISOString(),
    }));
    await world.transactions(...records);
    const found = new Map((await facts()).map(({ active_until, duration }) => [active_until, duration]));
    expect(found.size).toBe(LENGTHS.length);
    const lengthOf = (activeUntil: string | null) => (Date.parse(activeUntil as string) - begins) / 86_400_000;
    const classes = [...found].map(([activeUntil, code]) => [lengthOf(activeUntil), DURATIONS[code as number]]);
    expect(classes.sort(([a], [b]) => Number(a) - Number(b))).toEqual(
      LENGTHS.map(([days, name]) => [expect.closeTo(days, 6), name]),
    );
  });

  test('has neither a billing issue nor a grace period if it is bought once', async () => {
    await world.transactions({
      ...MONTH,
      purchase_type: 'one_time_purchase',
      billing_issue_detected_at: '2025-01-10T00:00:00Z',
      grace_period_expires_at: '2025-02-20T00:00:00Z',
    });
    expect(await facts()).toMatchObject([{ grace_at: null, billing_issue_at: null }]);
  });
});
