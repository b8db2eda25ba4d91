// A batch has the same outcome as its records one after the other, however it is cut.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyRecords, type KeyedRecord, type Known, type Profile } from '../../src/import/profiles/apply.ts';

const IDS = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
const CUSTOMERS = ['ann', 'bob', 'cid'];
const NOW = '2026-06-01T12:00:00.000000Z';

function record(given: Partial<KeyedRecord>): KeyedRecord {
  return {
    profile_id: null,
    customer_user_id: null,
    installed_at: null,
    country: null,
    store: null,
    attributes: new Map(),
    attribution: null,
    ...given,
  };
}

function numberedIds(): () => string {
  let last = 100;
  return () => `00000000-0000-4000-8000-000000000${last++}`;
}

const NOTHING: Known = { profiles: [], deletedIds: new Set() };

function after(known: Known, records: readonly KeyedRecord[], newId = numberedIds()) {
  const { changes, verdicts } = applyRecords(known, records, { now: NOW, policy: 'last', newId });
  const profiles = new Map(known.profiles.map((one) => [one.profile_id, one]));
  for (const change of changes) profiles.set(change.after.profile_id, change.after);
  return { profiles: [...profiles.values()], verdicts };
}

const anyRecord = fc
  .record({
    profile_id: fc.option(fc.constantFrom(...IDS)),
    customer_user_id: fc.option(fc.constantFrom(...CUSTOMERS)),
    country: fc.option(fc.constantFrom('US', 'DE')),
    attributes: fc
      .array(fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('x', 1, null)), { maxLength: 2 })
      .map((entries) => new Map<string, string | number | null>(entries)),
    attribution: fc.option(fc.record({ attribution_key: fc.nat(2), attribution_user_id: fc.constant(null) })),
  })
  .filter(({ profile_id, customer_user_id }) => profile_id !== null || customer_user_id !== null)
  .map(record);

function sorted(profiles: readonly Profile[]): Profile[] {
  return profiles
    .map((one) => ({
      ...one,
      custom_attributes: Object.fromEntries(Object.entries(one.custom_attributes).sort()),
    }))
    .sort((a, b) => (a.profile_id < b.profile_id ? -1 : 1));
}

test('a batch and its records one by one give the same profiles, whatever the records are', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 12 }), fc.nat(12), (records, cut) => {
      const [first, second] = [records.slice(0, cut), records.slice(cut)];
      const known = { profiles: after(NOTHING, first).profiles, deletedIds: new Set<string>() };
      const [together, singly] = [numberedIds(), numberedIds()];
      // Both continue with fresh ids that the first part has not used.
      for (let used = 0; used < 12; used++) [together(), singly()];
      const atOnce = after(known, second, together);
      let one = known as Known;
      const faults: boolean[] = [];
      for (const single of second) {
        const outcome = after(one, [single], singly);
        faults.push(typeof outcome.verdicts[0] !== 'string');
        one = { ...known, profiles: outcome.profiles };
      }
      expect(sorted(atOnce.profiles)).toEqual(sorted(one.profiles));
      expect(atOnce.verdicts.map((verdict) => typeof verdict !== 'string')).toEqual(faults);
    }),
    { numRuns: 2000 },
  );
});

test('no customer user id ever belongs to two profiles', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 12 }), (records) => {
      const names = after(NOTHING, records).profiles.map(({ customer_user_id }) => customer_user_id);
      const given = names.filter((name) => name !== null);
      expect(new Set(given).size).toBe(given.length);
    }),
  );
});

test('records that cancel each other out change nothing', () => {
  const known = { profiles: after(NOTHING, [record({ customer_user_id: 'ann', country: 'US' })]).profiles };
  const records = [
    record({ customer_user_id: 'ann', country: 'DE' }),
    record({ customer_user_id: 'ann', country: 'US' }),
  ];
  expect(after({ ...NOTHING, ...known }, records).verdicts).toEqual(['unchanged', 'unchanged']);
});

test.each<Partial<KeyedRecord>>([
  { installed_at: '2026-05-01T00:00:00.000000Z' },
  { country: 'DE' },
  { store: 'play_store' },
  { attributes: new Map([['plan', 'pro']]) },
  { attribution: { attribution_key: 2, attribution_user_id: 'x' } },
  { attribution: { attribution_key: 1, attribution_user_id: 'y' } },
])('a record that changes one thing changes its profile, and changes nothing the second time: %o', (change) => {
  const customer_user_id = 'ann';
  const attribution = { attribution_key: 1, attribution_user_id: 'x' };
  const first = record({ customer_user_id, installed_at: NOW, country: 'US', store: 'stripe', attribution });
  const known = { ...NOTHING, profiles: after(NOTHING, [first]).profiles };
  const second = record({ customer_user_id, ...change });
  expect(after(known, [second]).verdicts).toEqual(['written']);
  expect(after(known, [second, second]).verdicts).toEqual(['written', 'unchanged']);
});

test('a customer user id that a profile gave up is free for the next profile', () => {
  const [one, other] = IDS as [string, string];
  const { profiles, verdicts } = after(NOTHING, [
    record({ profile_id: one, customer_user_id: 'ann' }),
    record({ profile_id: one, customer_user_id: 'bob' }),
    record({ profile_id: other, customer_user_id: 'ann' }),
  ]);
  expect(verdicts).toEqual(['written', 'written', 'written']);
  expect(profiles.map(({ customer_user_id }) => customer_user_id)).toEqual(['bob', 'ann']);
});

test('a profile_id that names nobody yields to the customer user id; one of another profile does not', () => {
  const [one, other] = IDS as [string, string];
  const { profiles, verdicts } = after(NOTHING, [
    record({ profile_id: one, customer_user_id: 'ann' }),
    record({ profile_id: other, customer_user_id: 'ann', country: 'DE' }),
    record({ profile_id: other, customer_user_id: 'bob' }),
    record({ profile_id: other, customer_user_id: 'ann', country: 'US' }),
  ]);
  expect(verdicts).toEqual(['written', 'written', 'written', expect.objectContaining({ source: 'customer_user_id' })]);
  expect(profiles).toMatchObject([
    { profile_id: one, customer_user_id: 'ann', country: 'DE' },
    { profile_id: other, customer_user_id: 'bob', country: null },
  ]);
});
