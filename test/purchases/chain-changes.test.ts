// Which events result from writing a chain: chains before and after, without a database.
import { describe, expect, test } from 'vitest';
import type { ChainTransaction } from '../../src/purchases/chain.ts';
import { chainChangesOf, lapseOf } from '../../src/purchases/chain-changes.ts';
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
  chainChangesOf(before, after).map(({ event_type, transaction: { purchase_no } }) => [event_type, purchase_no]);

test('the event of a new transaction depends on what was known of the chain', () => {
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

test('a one-time purchase with the id of a subscription does not begin it', () => {
  const gems = transaction({ purchase_type: 'one_time_purchase', period: 'one_time' });
  expect(typesOf([gems], [gems, paid])).toEqual([['subscription_started', paid.purchase_no]]);
});

test('a member that appears is reported once, with its own date', () => {
  const ailing = {
    ...paid,
    renew_status: false,
    renew_status_changed_at: '2025-02-05 00:00:00+00',
    billing_issue_detected_at: '2025-02-27 00:00:00+00',
    grace_period_expires_at: '2025-03-10 00:00:00+00',
    refunded_at: '2025-03-02 00:00:00+00',
  };
  const reported = chainChangesOf([paid], [ailing]);
  expect(reported.map(({ event_type, at }) => [event_type, at])).toEqual([
    ['billing_issue_detected', '2025-02-27 00:00:00+00'],
    ['entered_grace_period', '2025-02-27 00:00:00+00'],
    ['subscription_renewal_cancelled', '2025-02-05 00:00:00+00'],
    ['subscription_refunded', '2025-03-02 00:00:00+00'],
  ]);
  expect(chainChangesOf([ailing], [{ ...ailing, paywall_id: 'pw', refunded_at: '2025-03-03 00:00:00+00' }])).toEqual(
    [],
  );
  expect(chainChangesOf([ailing], [paid])).toEqual([]);
});

test('a new transaction also reports what it already says', () => {
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

test('a write that changed nothing, or took over a chain as it was, reports nothing', () => {
  expect(chainChangesOf([trial, paid], [trial, paid])).toEqual([]);
});

test('a lapse is reported as that of a trial or of a subscription', () => {
  const lapse_at = '2025-03-01 00:00:00+00';
  expect(lapseOf({ ...trial, lapse_at })).toMatchObject({ event_type: 'trial_expired', at: lapse_at });
  expect(lapseOf({ ...paid, lapse_at })).toMatchObject({ event_type: 'subscription_expired', at: lapse_at });
});

describe('what is watched after a write', () => {
  const now = '2025-06-01T00:00:00.000000Z';
  const [past, earlier, future] = ['2025-05-01 00:00:00+00', '2025-04-01 00:00:00+00', '2025-07-01 00:00:00+00'];
  const later = '2025-07-05 00:00:00+00';
  const until = (expires_at: string, lapse_at: string | null = expires_at) => ({ ...paid, expires_at, lapse_at });
  const plan = (before: ChainTransaction[], after: ChainTransaction) => {
    const { watch, forget } = planLapses(before, [after], now);
    return [...watch.map(({ check_at }) => check_at), ...forget.map(() => 'forgotten')];
  };
  const FUTURE = ['2025-07-01T00:00:00.000000Z'];
  const SOON = ['2025-06-01T00:00:02.000000Z'];

  test('of a new period: its lapse, or, if that is past, whether it is still lapsed soon after', () => {
    expect(plan([], until(future))).toEqual(FUTURE);
    expect(plan([], until(past))).toEqual(SOON);
    expect(plan([], until(past, null))).toEqual([]);
  });

  test('of a period that had lapsed and still has, even at another moment: nothing, as it was reported or is about to be', () => {
    expect(plan([until(past)], until(past))).toEqual([]);
    expect(plan([until(past)], until(earlier))).toEqual([]);
  });

  test('of a period that goes on as before: its lapse, as an import may have set it', () => {
    expect(plan([until(future)], until(future))).toEqual(FUTURE);
  });

  test('of a period that is shortened, extended, continued or no longer continued: its new lapse, if any', () => {
    expect(plan([until(future)], until(past))).toEqual(SOON);
    expect(plan([until(past)], until(future))).toEqual(FUTURE);
    expect(plan([until(future)], until(past, null))).toEqual(['forgotten']);
    expect(plan([until(past)], until(past, null))).toEqual(['forgotten']);
    expect(plan([until(past, null)], until(past))).toEqual(SOON);
  });

  test('of any period: the first of its future dates, which are its start, the start of its grace, and its refund', () => {
    expect(plan([], { ...until(later), purchased_at: future })).toEqual(FUTURE);
    expect(plan([], { ...until(future, later), grace_period_expires_at: later })).toEqual(FUTURE);
    expect(plan([], { ...until(later, future), refunded_at: future })).toEqual(FUTURE);
    expect(plan([], { ...until(later, past), refunded_at: past })).toEqual(SOON);
  });
});
