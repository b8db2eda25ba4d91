// Successful attributions (interface 4.1, decisions.md 4): what is stored, and what a further record does to it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAttributionRecorder } from '../../src/attribution/service.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { ATTRIBUTION, post, readRecord } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const FULL = {
  status: 'non_organic',
  attribution_user_id: 'user-1',
  channel: 'search',
  campaign: 'spring',
  ad_group: 'group',
  ad_set: 'set',
  creative: 'word',
};
const EMPTY = {
  attribution_user_id: null,
  channel: null,
  campaign: null,
  ad_group: null,
  ad_set: null,
  creative: null,
};

test('a record is answered with 201 and an empty body, and stored under the source custom', async () => {
  const profileId = await addProfile(service, 'anna');
  const response = await post(service, { ...FULL, customer_user_id: 'anna' });
  expect(response).toMatchObject({ status: 201, text: '' });
  expect(response.headers['content-length']).toBe('0');
  expect(await readRecord(service, profileId)).toMatchObject({ ...FULL, source: 'custom', superseded: [] });
});

test.each(['organic', 'non_organic', 'unknown'])('the status %s is permitted', async (status) => {
  const profileId = await addProfile(service, `with ${status}`);
  expect(await post(service, { status, profile_id: profileId })).toMatchObject({ status: 201 });
  expect(await readRecord(service, profileId)).toMatchObject({ status, ...EMPTY });
});

test('a profile is named by customer_user_id, by profile_id in upper or lower case, or by both', async () => {
  const profileId = await addProfile(service, 'both');
  const namings = [
    { customer_user_id: 'both' },
    { profile_id: profileId },
    { profile_id: profileId.toUpperCase() },
    { customer_user_id: 'both', profile_id: profileId },
    { customer_user_id: null, profile_id: profileId },
    { customer_user_id: '', profile_id: profileId },
    { customer_user_id: 'both', profile_id: null },
    { customer_user_id: 'both', profile_id: '' },
  ];
  for (const [index, naming] of namings.entries()) {
    const channel = `naming ${index}`;
    expect(await post(service, { status: 'organic', channel, ...naming })).toMatchObject({ status: 201 });
    expect(await readRecord(service, profileId)).toMatchObject({ channel });
  }
});

test('the path works without its trailing slash, too', async () => {
  await addProfile(service, 'slash');
  const body = { status: 'organic', customer_user_id: 'slash' };
  const response = await service.call('POST', ATTRIBUTION.slice(0, -1), { key: service.publicKey, body });
  expect(response.status).toBe(201);
});

test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=latin1'])(
  'the content type %s is accepted, and read as UTF-8',
  async (type) => {
    const profileId = await addProfile(service, `type ${type}`);
    const body = { status: 'organic', channel: 'ünïcödé 💡', profile_id: profileId };
    expect(await post(service, body, { headers: { 'content-type': type } })).toMatchObject({ status: 201 });
    expect(await readRecord(service, profileId)).toMatchObject({ channel: 'ünïcödé 💡' });
  },
);

test('null and the empty string count as absent, and unknown members are ignored', async () => {
  const profileId = await addProfile(service, 'absent');
  const body = {
    ...EMPTY,
    status: 'organic',
    channel: '',
    ad_set: '',
    customer_user_id: 'absent',
    sdk: { version: 3 },
  };
  expect(await post(service, body)).toMatchObject({ status: 201 });
  expect(await readRecord(service, profileId)).toMatchObject(EMPTY);
});

test.each(Object.keys(EMPTY))('an empty %s is stored as null beside the other fields', async (name) => {
  const profileId = await addProfile(service, `empty ${name}`);
  expect(await post(service, { ...FULL, [name]: '', profile_id: profileId })).toMatchObject({ status: 201 });
  expect(await readRecord(service, profileId)).toMatchObject({ ...FULL, [name]: null });
});

test('nothing is stripped or folded: spaces and case are part of a value', async () => {
  const profileId = await addProfile(service, ' Spaced ID ');
  expect(await post(service, { status: 'organic', campaign: ' A b ', customer_user_id: ' Spaced ID ' })).toMatchObject({
    status: 201,
  });
  expect(await readRecord(service, profileId)).toMatchObject({ campaign: ' A b ' });
});

test('500 code points fit in every field, and 255 in a customer_user_id, however many bytes they take', async () => {
  const id = '💡'.repeat(255);
  const profileId = await addProfile(service, id);
  const long = Object.fromEntries(Object.keys(EMPTY).map((name) => [name, '💡'.repeat(500)]));
  expect(await post(service, { ...long, status: 'organic', customer_user_id: id })).toMatchObject({ status: 201 });
  expect(await readRecord(service, profileId)).toMatchObject(long);
});

test('a record replaces the previous one as a whole: an absent field becomes null', async () => {
  const profileId = await addProfile(service, 'replaced');
  await post(service, { ...FULL, profile_id: profileId });
  const first = await readRecord(service, profileId);
  await post(service, { status: 'organic', campaign: 'autumn', profile_id: profileId });
  expect(await readRecord(service, profileId)).toMatchObject({
    ...EMPTY,
    status: 'organic',
    campaign: 'autumn',
    superseded: [
      { status: 'non_organic', attribution_user_id: 'user-1', channel: 'search', recorded_at: first?.recorded_at },
    ],
  });
});

test('the same record twice changes nothing', async () => {
  const profileId = await addProfile(service, 'twice');
  await post(service, { ...FULL, profile_id: profileId });
  const first = await readRecord(service, profileId);
  expect(await post(service, { ...FULL, customer_user_id: 'twice' })).toMatchObject({ status: 201 });
  expect(await readRecord(service, profileId)).toEqual(first);
});

test('a different attribution_user_id alone makes another record', async () => {
  const profileId = await addProfile(service, 'other user');
  await post(service, { ...FULL, profile_id: profileId });
  await post(service, { ...FULL, attribution_user_id: null, profile_id: profileId });
  expect(await readRecord(service, profileId)).toMatchObject({
    attribution_user_id: null,
    channel: 'search',
    superseded: [{ attribution_user_id: 'user-1', channel: 'search' }],
  });
});

test('the last ten superseded records are kept with their times, the newest first', async () => {
  const profileId = await addProfile(service, 'many');
  const times: (string | undefined)[] = [];
  for (let i = 1; i <= 13; i++) {
    await post(service, { status: 'organic', channel: `c${i}`, attribution_user_id: `u${i}`, profile_id: profileId });
    times.push((await readRecord(service, profileId))?.recorded_at);
  }
  const record = await readRecord(service, profileId);
  expect(record?.channel).toBe('c13');
  expect(record?.superseded.map(({ channel }) => channel)).toEqual([
    'c12',
    'c11',
    'c10',
    'c9',
    'c8',
    'c7',
    'c6',
    'c5',
    'c4',
    'c3',
  ]);
  expect(record?.superseded.map(({ recorded_at }) => recorded_at)).toEqual(times.slice(2, 12).reverse());
  expect(record?.superseded[0]?.attribution_user_id).toBe('u12');
});

test('posts that arrive together are all stored, each on its own profile', async () => {
  const profiles = await Promise.all(Array.from({ length: 300 }, (_, i) => addProfile(service, `crowd ${i}`)));
  const responses = await Promise.all(
    profiles.map((profile_id, i) => post(service, { status: 'organic', campaign: `crowd ${i}`, profile_id })),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
  const campaigns = await Promise.all(profiles.map(async (id) => (await readRecord(service, id))?.campaign));
  expect(campaigns).toEqual(profiles.map((_, i) => `crowd ${i}`));
});

test('posts for one profile that arrive together supersede each other; a post that names no profile fails alone', async () => {
  const profileId = await addProfile(service, 'hot');
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      post(service, { status: 'organic', campaign: `hot ${i}`, customer_user_id: i === 3 ? 'nobody' : 'hot' }),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 404, 201, 201, 201, 201]);
  expect((await readRecord(service, profileId))?.superseded).toHaveLength(6);
});

test('an app created with --attribution first keeps the first record, and still responds with 201', async () => {
  const first = await startService({ app: { name: 'First', attribution_policy: 'first' } });
  try {
    const profileId = await addProfile(first, 'anna');
    expect(await post(first, { ...FULL, profile_id: profileId })).toMatchObject({ status: 201 });
    const record = await readRecord(first, profileId);
    expect(await post(first, { status: 'organic', profile_id: profileId })).toMatchObject({ status: 201, text: '' });
    expect(await readRecord(first, profileId)).toEqual(record);
    const dropped = { status: 'non_organic', campaign: 'dropped', profile_id: profileId };
    expect(await post(first, dropped)).toMatchObject({ status: 201 });
    const labels = first.deps.db.selectFrom('dim_attribution').select('campaign');
    expect(await labels.where('campaign', '=', 'dropped').execute()).toEqual([]);
    expect(await post(first, { status: 'organic', customer_user_id: 'nobody' })).toMatchObject({ status: 404 });
  } finally {
    await first.close();
  }
});

test('hardly any post that a profile drops adds its label, even if they arrive together', async () => {
  const first = await startService({ app: { name: 'First', attribution_policy: 'first' } });
  try {
    await addProfile(first, 'bert');
    const record = createAttributionRecorder(first.deps);
    const campaigns = Array.from({ length: 20 }, (_, i) => `of bert ${i}`);
    await Promise.all(
      campaigns.map((campaign) => record(first.app, { status: 'non_organic', campaign, customer_user_id: 'bert' })),
    );
    const labels = first.deps.db.selectFrom('dim_attribution').select('campaign');
    const added = await labels.where('campaign', 'in', campaigns).execute();
    // A group begins before the one ahead of it is answered, and in each group one record comes first.
    expect([1, 2]).toContain(added.length);
  } finally {
    await first.close();
  }
});

test('with attribution first, a post whose profile is not found does not count as the first', async () => {
  const first = await startService({ app: { name: 'First', attribution_policy: 'first' } });
  try {
    const [carl, dora] = [await addProfile(first, 'carl'), await addProfile(first, 'dora')];
    const record = createAttributionRecorder(first.deps);
    const together = (campaign: string, wrong: object, right: object) =>
      Promise.allSettled([
        record(first.app, { status: 'organic', ...wrong }),
        record(first.app, { status: 'non_organic', campaign, ...right }),
      ]);
    const customer_user_id = 'carl';
    const ofCarl = await together('of carl', { customer_user_id, profile_id: randomUUID() }, { customer_user_id });
    const ofDora = await together('of dora', { customer_user_id: dora }, { profile_id: dora });
    for (const outcomes of [ofCarl, ofDora]) {
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    }
    expect(await readRecord(first, carl)).toMatchObject({ campaign: 'of carl' });
    expect(await readRecord(first, dora)).toMatchObject({ campaign: 'of dora' });
  } finally {
    await first.close();
  }
});
