// Which events a write of a chain gives: chains before and after, without a database.
import { expect, test } from 'vitest';
import type { ChainTransaction } from '../../src/purchases/chain.ts';
import { changesOf, lapseOf } from '../../src/purchases/changes.ts';
import { planLapses } from '../../src/purchases/lapse-watch.ts';

let numbers = 0n;

function transaction(members: Partial<ChainTransaction> = {}): ChainTransaction {
  numbers += 1n;
  return {
    purchase_no: numbers,
    purchase_type: 'subscription',
    environment: 'Production',
    is_family_shared: false,
    period: 'activation',
    purchased_at: '2025-02-01 00:00:00+00',
    expires_at: '2025-03-01 00:00:00+00',
    renew_status: true,
    renew_status_changed_at: null,
    billing_issue_detected_at: null,
    grace_period_expires_at: null,
    refunded_at: null,
    lapse_at: null,
    ...members,
  } as ChainTransaction;
}

const trial = transaction({ period: 'trial', purchased_at: '2025-01-01 00:00:00+00' });
const paid = transaction();
const renewed = transaction({ period: 'renewal_1' });
const typesOf = (before: ChainTransaction[], after: ChainTransaction[]) =>
  changesOf(before, after).map(({ event_type, transaction: { purchase_no } }) => [event_type, purchase_no]);

test('what a new transaction is called depends on what was known of the chain', () => {
  expect(typesOf([], [trial])).toEqual([['trial_started', trial.purchase_no]]);
  expect(typesOf([], [paid])).toEqual([['subscription_started', paid.purchase_no]]);
  expect(typesOf([trial], [trial, paid])).toEqual([['trial_converted', paid.purchase_no]]);
  expect(typesOf([trial, paid], [trial, paid, renewed])).toEqual([['subscription_renewed', renewed.purchase_no]]);
  const gems = transaction({ purchase_type: 'one_time_purchase', period: 'one_time' });
  expect(typesOf([], [gems])).toEqual([['non_subscription_purchase', gems.purchase_no]]);
});

test('a chain whose history arrives out of order begins once', () => {
  expect(typesOf([renewed], [paid, renewed])).toEqual([['subscription_renewed', paid.purchase_no]]);
});

test('sandbox and shared transactions of a chain do not begin or continue those that count', () => {
  const sandbox = transaction({ environment: 'Sandbox' });
  const shared = transaction({ is_family_shared: true });
  expect(typesOf([paid], [paid, sandbox, shared])).toEqual([
    ['subscription_started', sandbox.purchase_no],
    ['subscription_started', shared.purchase_no],
  ]);
});

test('a member that appears is told once, with its own date', () => {
  const ailing = {
    ...paid,
    renew_status: false,
    renew_status_changed_at: '2025-02-05 00:00:00+00',
    billing_issue_detected_at: '2025-02-27 00:00:00+00',
    grace_period_expires_at: '2025-03-10 00:00:00+00',
    refunded_at: '2025-03-02 00:00:00+00',
  };
  const told = changesOf([paid], [ailing]);
  expect(told.map(({ event_type, at }) => [event_type, at])).toEqual([
    ['billing_issue_detected', '2025-02-27 00:00:00+00'],
    ['entered_grace_period', '2025-02-27 00:00:00+00'],
    ['subscription_renewal_cancelled', '2025-02-05 00:00:00+00'],
    ['subscription_refunded', '2025-03-02 00:00:00+00'],
  ]);
  expect(changesOf([ailing], [{ ...ailing, paywall_id: 'pw', refunded_at: '2025-03-03 00:00:00+00' }])).toEqual([]);
  expect(changesOf([ailing], [paid])).toEqual([]);
});

test('a new transaction tells of what it already says', () => {
  const refunded = transaction({
    purchase_type: 'one_time_purchase',
    period: 'one_time',
    refunded_at: '2025-02-03 00:00:00+00',
    billing_issue_detected_at: '2025-02-02 00:00:00+00',
  });
  expect(typesOf([], [refunded]).map(([type]) => type)).toEqual([
    'non_subscription_purchase',
    'non_subscription_purchase_refunded',
  ]);
});

test('a write that changed nothing, and one that took a chain over as it was, tell nothing', () => {
  expect(changesOf([trial, paid], [trial, paid])).toEqual([]);
});

test('a lapse is that of a trial or of a subscription', () => {
  const lapse_at = '2025-03-01 00:00:00+00';
  expect(lapseOf({ ...trial, lapse_at })).toMatchObject({ event_type: 'trial_expired', at: lapse_at });
  expect(lapseOf({ ...paid, lapse_at })).toMatchObject({ event_type: 'subscription_expired', at: lapse_at });
});

test('which lapses are watched after a write', () => {
  const now = '2025-06-01T00:00:00.000000Z';
  const [past, earlier, future] = ['2025-05-01 00:00:00+00', '2025-04-01 00:00:00+00', '2025-07-01 00:00:00+00'];
  const at = (lapse_at: string | null) => ({ ...paid, lapse_at });
  const plan = (before: ChainTransaction[], after: ChainTransaction, isMoved = false) => {
    const { watch, forget } = planLapses(before, [after], { now, isMoved });
    return watch.length > 0 ? 'watch' : forget.length > 0 ? 'forget' : 'leave';
  };
  // New transactions, lapsed or to lapse.
  expect(plan([], at(past))).toBe('watch');
  expect(plan([], at(future))).toBe('watch');
  expect(plan([], at(null))).toBe('forget');
  // The same lapse as before: watched already, told already, or imported.
  expect(plan([at(future)], at(future))).toBe('leave');
  expect(plan([at(past)], at(past))).toBe('leave');
  // Corrected to another moment of the past: it had lapsed and has.
  expect(plan([at(past)], at(earlier))).toBe('leave');
  // Shortened, extended, continued, no longer continued.
  expect(plan([at(future)], at(past))).toBe('watch');
  expect(plan([at(past)], at(future))).toBe('watch');
  expect(plan([at(future)], at(null))).toBe('forget');
  expect(plan([at(null)], at(past))).toBe('watch');
  // A chain from another profile: what it will lapse is for the new one to hear.
  expect(plan([at(future)], at(future), true)).toBe('watch');
  expect(plan([at(past)], at(past), true)).toBe('leave');
});
