// The computed parts of the profile object: money as numbers, and the hash of what segments are made from.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toUsd } from '../../src/lib/money.ts';
import { renderProfile } from '../../src/profile/object.ts';
import type { ProfileState } from '../../src/profile/state.ts';
import { purchase } from './states.ts';

const ANNA: ProfileState = {
  app_id: 'app',
  profile_id: 'profile',
  customer_user_id: 'anna',
  installed_at: '2025-01-01 00:00:00+00',
  country: 'US',
  custom_attributes: { a: 1, b: 'x' },
  read_at: '2025-06-15 12:00:00.987654+00',
  attribution: {
    status: 'organic',
    attribution_user_id: null,
    channel: 'search',
    campaign: null,
    ad_group: null,
    ad_set: null,
    creative: null,
    source: 'custom',
    recorded_at: '2025-01-01T00:00:00+00:00',
  },
  grants: [],
  purchases: [],
  past_revenue_nano: '0',
};

const hashOf = (changes: Partial<ProfileState>) =>
  renderProfile({ ...ANNA, ...changes }, { profile_shape: 'dictionary' }).segment_hash;

test('segment_hash is 16 hex digits that change with custom attributes, attribution and country', () => {
  const hash = hashOf({});
  expect(hash).toMatch(/^[0-9a-f]{16}$/);
  const attribution = ANNA.attribution!;
  const others = [
    hashOf({ custom_attributes: { a: 2, b: 'x' } }),
    hashOf({ custom_attributes: { a: '1', b: 'x' } }),
    hashOf({ custom_attributes: { a: 1 } }),
    hashOf({ country: 'DE' }),
    hashOf({ country: null }),
    hashOf({ attribution: null }),
    hashOf({ attribution: { ...attribution, campaign: 'spring' } }),
    hashOf({ attribution: { ...attribution, source: 'branch' } }),
    hashOf({ attribution: { ...attribution, channel: null, campaign: 'search' } }),
  ];
  expect(new Set([hash, ...others]).size).toBe(others.length + 1);
});

test('segment_hash does not change with anything else, nor with the order of attributes', () => {
  const hash = hashOf({});
  expect(hashOf({ custom_attributes: { b: 'x', a: 1 } })).toBe(hash);
  expect(hashOf({ read_at: '2026-01-01 00:00:00+00', customer_user_id: 'bert' })).toBe(hash);
  expect(hashOf({ attribution: { ...ANNA.attribution!, recorded_at: '2026-01-01T00:00:00+00:00' } })).toBe(hash);
});

test('timestamp is the moment of the state in whole milliseconds', () => {
  expect(renderProfile(ANNA, { profile_shape: 'dictionary' }).timestamp).toBe(Date.UTC(2025, 5, 15, 12, 0, 0, 987));
});

test('a purchase and a refund count from their own microsecond on', () => {
  const bought = purchase({
    purchase_type: 'one_time_purchase',
    purchased_at: '2025-06-15 12:00:00.000001+00',
    refunded_at: '2025-06-15 12:00:00.000003+00',
    revenue_nano: '9990000000',
  });
  const revenueAt = (read_at: string) =>
    renderProfile({ ...ANNA, purchases: [bought], read_at }, { profile_shape: 'dictionary' }).total_revenue_usd;
  const moments = ['12:00:00', '12:00:00.000001', '12:00:00.000002', '12:00:00.000003'];
  expect(moments.map((moment) => revenueAt(`2025-06-15 ${moment}+00`))).toEqual([0, 9.99, 9.99, 0]);
});

test('a profile without purchases has null in the dictionary shape, and empty lists in the array shape', () => {
  expect(renderProfile(ANNA, { profile_shape: 'dictionary' })).toMatchObject({
    access_levels: null,
    subscriptions: null,
    non_subscriptions: null,
    custom_attributes: { a: 1, b: 'x' },
  });
  expect(renderProfile(ANNA, { profile_shape: 'array' })).toMatchObject({
    access_levels: [],
    subscriptions: [],
    non_subscriptions: [],
  });
});

test.each([
  [0n, 0],
  [9_990_000_000n, 9.99],
  [123_456n, 0.000123],
  [500n, 0.000001],
  [499n, 0],
  [-499n, 0],
  [-1_500n, -0.000002],
  [-9_990_000_000n, -9.99],
  [1_234_567_890_123_456n, 1_234_567.890123],
])('%s nano-USD are %s USD', (nano, usd) => {
  expect(toUsd(nano)).toBe(usd);
});

test('property: amounts of at most 6 decimals are returned as they were given', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }), (micro) => {
      const text = `${micro < 0 ? '-' : ''}${Math.floor(Math.abs(micro) / 1e6)}.${String(Math.abs(micro) % 1_000_000).padStart(6, '0')}`;
      return toUsd(BigInt(micro) * 1000n) === Number(text) + 0;
    }),
    { numRuns: 2_000 },
  );
});
