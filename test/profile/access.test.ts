// Which source gives an access level (decisions.md 5): the one that serves best now. The function is pure and takes
// `now` as an argument.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AccessSource, isActive, isInGracePeriod, listAccess } from '../../src/profile/access.ts';
import type { GrantState, ProfileState, PurchaseState } from '../../src/profile/state.ts';
import { purchase } from './states.ts';

const NOW = '2025-06-15T12:00:00.000000Z';

function granted(starts_at: string | null, expires_at: string | null): GrantState {
  return {
    access_level_id: 'premium',
    grant_id: '00000000-0000-0000-0000-000000000001',
    starts_at,
    expires_at,
    granted_at: '2025-01-01 00:00:00+00',
    first_granted_at: '2025-01-01 00:00:00+00',
  };
}

function state(purchases: PurchaseState[], grants: GrantState[]): ProfileState {
  return {
    app_id: 'app',
    profile_id: 'profile',
    customer_user_id: null,
    installed_at: '2025-01-01 00:00:00+00',
    country: null,
    custom_attributes: {},
    read_at: '2025-06-15 12:00:00+00',
    attribution: null,
    grants,
    purchases,
    past_revenue_nano: '0',
  };
}

function bestOf(purchases: PurchaseState[], grants: GrantState[]): AccessSource {
  const [best, ...others] = listAccess(state(purchases, grants), NOW);
  expect(others).toEqual([]);
  return best as AccessSource;
}

const isGrant = (source: AccessSource) => 'grant' in source.opened_by;

describe('a grant beside a purchase', () => {
  test('the active one is shown rather than a future one, and a future one rather than an expired one', () => {
    const active = purchase({ expires_at: '2025-07-01 00:00:00+00' });
    const expired = purchase({});
    expect(isGrant(bestOf([active], [granted('2025-07-01 00:00:00+00', null)]))).toBe(false);
    expect(isGrant(bestOf([active], [granted(null, '2025-06-01 00:00:00+00')]))).toBe(false);
    expect(isGrant(bestOf([expired], [granted('2025-07-01 00:00:00+00', null)]))).toBe(true);
    expect(isGrant(bestOf([expired], [granted(null, '2025-06-16 00:00:00+00')]))).toBe(true);
  });

  test('a grant that ends before it begins never opens, and counts as expired', () => {
    const never = granted('2025-07-01 00:00:00+00', '2025-06-20 00:00:00+00');
    const expired = purchase({ expires_at: '2025-06-10 00:00:00+00' });
    expect(isGrant(bestOf([purchase({ expires_at: '2025-07-01 00:00:00+00' })], [never]))).toBe(false);
    expect(isGrant(bestOf([purchase({ purchased_at: '2025-08-01 00:00:00+00', expires_at: null })], [never]))).toBe(
      false,
    );
    expect(isGrant(bestOf([expired], [never]))).toBe(true);
    expect(isActive(bestOf([], [never]), NOW)).toBe(false);
  });

  test('of two active ones, the one with the later end is shown, no end being the latest', () => {
    const active = purchase({ expires_at: '2025-07-01 00:00:00+00' });
    expect(isGrant(bestOf([active], [granted(null, '2025-07-01 00:00:00.000001+00')]))).toBe(true);
    expect(isGrant(bestOf([active], [granted(null, '2025-06-30 23:59:59.999999+00')]))).toBe(false);
    expect(isGrant(bestOf([active], [granted(null, null)]))).toBe(true);
  });

  test('of two with the same end, the purchase is shown', () => {
    const active = purchase({ expires_at: '2025-07-01 00:00:00+00' });
    expect(isGrant(bestOf([active], [granted(null, '2025-07-01 00:00:00+00')]))).toBe(false);
    const lifelong = purchase({ purchase_type: 'one_time_purchase', expires_at: null });
    expect(isGrant(bestOf([lifelong], [granted(null, null)]))).toBe(false);
    expect(isGrant(bestOf([purchase({})], [granted(null, '2025-02-01 00:00:00+00')]))).toBe(false);
  });

  test('access is active from its start up to, but not including, its end', () => {
    expect(isActive(bestOf([], [granted(null, '2025-06-15 12:00:00+00')]), NOW)).toBe(false);
    expect(isActive(bestOf([], [granted(null, '2025-06-15 12:00:00.000001+00')]), NOW)).toBe(true);
    expect(isActive(bestOf([], [granted('2025-06-15 12:00:00+00', null)]), NOW)).toBe(true);
    expect(isActive(bestOf([], [granted('2025-06-15 12:00:00.000001+00', null)]), NOW)).toBe(false);
  });
});

test('a grace period lasts from the end of the period up to, but not including, its own end or a refund', () => {
  const isInGrace = (expires_at: string, grace_period_expires_at: string, refunded_at: string | null = null) =>
    isInGracePeriod(purchase({ expires_at, grace_period_expires_at, refunded_at }), NOW);
  const [now, next] = ['2025-06-15 12:00:00+00', '2025-06-15 12:00:00.000001+00'];
  expect(isInGrace(now, next)).toBe(true);
  expect(isInGrace(next, '2025-07-01 00:00:00+00')).toBe(false);
  expect(isInGrace('2025-06-01 00:00:00+00', now)).toBe(false);
  expect(isInGrace(now, next, now)).toBe(false);
  expect(isInGrace(now, next, next)).toBe(true);
});

test('a refund ends access that has not ended yet, and prolongs none', () => {
  const untilOf = (refunded_at: string) => bestOf([purchase({ refunded_at })], []).until;
  expect(untilOf('2025-01-20 00:00:00+00')).toBe('2025-01-20T00:00:00.000000Z');
  expect(untilOf('2025-07-01 00:00:00+00')).toBe('2025-02-01T00:00:00.000000Z');
});

test('a one-time purchase opens its level for life, even if it has an end or a grace period', () => {
  const expires_at = '2025-02-01 00:00:00+00';
  for (const grace_period_expires_at of [null, '2025-07-01 00:00:00+00']) {
    const bought = purchase({ purchase_type: 'one_time_purchase', expires_at, grace_period_expires_at });
    expect(bestOf([bought], []).until).toBeNull();
  }
});

test('of several purchases with the same end, the latest purchase is shown', () => {
  const first = purchase({ store_transaction_id: 'a' });
  const second = purchase({ store_transaction_id: 'b' });
  expect(bestOf([first, second], []).opened_by).toEqual({ purchase: second });
});

test('property: the source shown is active whenever any source is, and no better one is left out', () => {
  const moment = fc.constantFrom(
    null,
    '2025-05-01 00:00:00+00',
    '2025-06-15 12:00:00+00',
    '2025-06-15 12:00:00.5+00',
    '2025-08-01 00:00:00+00',
  );
  const grants = fc.array(fc.tuple(moment, moment), { maxLength: 1 }).map((all) => all.map(([a, b]) => granted(a, b)));
  const ends = fc.array(fc.tuple(moment, moment, moment), { maxLength: 4 });
  const purchases = ends.map((all) =>
    all.map(([expires_at, refunded_at, grace_period_expires_at]) =>
      expires_at === null
        ? purchase({ purchase_type: 'one_time_purchase', expires_at, refunded_at })
        : purchase({ expires_at, refunded_at, grace_period_expires_at }),
    ),
  );
  fc.assert(
    fc.property(purchases, grants, (bought, given) => {
      const alone = [
        ...bought.map((one) => listAccess(state([one], []), NOW)),
        listAccess(state([], given), NOW),
      ].flat();
      const [best] = listAccess(state(bought, given), NOW);
      if (alone.length === 0) return best === undefined;
      const rank = (one: AccessSource) => {
        const standing = isActive(one, NOW) ? 0 : one.until === null || one.until > NOW ? 1 : 2;
        return `${2 - standing}${one.until ?? '9999-12-31T23:59:59.999999Z~'}`;
      };
      const most = alone.map(rank).sort().at(-1);
      return best !== undefined && rank(best) === most;
    }),
  );
});
