// The demo's people: repeatable, within the rules of the import, and as varied as the charts need.
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/demo/random.ts';
import { simulate } from '../../src/demo/simulate.ts';

const until = new Date('2026-01-15T12:00:00Z');
const lives = [...simulate({ seed: 7, profiles: 4_000, until })];
const transactions = lives.flatMap((life) => life.transactions);

describe('the simulation', () => {
  it('gives the same people for the same seed, others for another', () => {
    const first = (seed: number) => [...simulate({ seed, profiles: 20, until })];
    expect(first(1)).toEqual(first(1));
    expect(first(1)).not.toEqual(first(2));
  });

  it('knows nothing of what comes after its last moment', () => {
    const dates = lives.flatMap(({ profile, transactions }) => [
      profile.installed_at,
      ...transactions.flatMap((one) => [
        one.purchased_at,
        one.refunded_at,
        one.renew_status_changed_at,
        one.billing_issue_detected_at,
      ]),
    ]);
    expect(dates.filter((date) => date !== undefined && date > until.toISOString())).toEqual([]);
  });

  it('covers two years with more installs in the second', () => {
    const installs = lives.map(({ profile }) => profile.installed_at).sort();
    expect(installs[0]! < '2024-03-15').toBe(true);
    expect(installs.at(-1)! > '2026-01-13').toBe(true);
    expect(installs.filter((date) => date > '2025-01-15').length).toBeGreaterThan(2_400);
  });

  it('has everything that a chart is made of', () => {
    const count = (has: (one: (typeof transactions)[number]) => unknown) => transactions.filter(has).length;
    expect(count((one) => one.offer?.type === 'free_trial')).toBeGreaterThan(300);
    expect(count((one) => one.offer?.category === 'win_back')).toBeGreaterThan(20);
    expect(count((one) => one.refunded_at)).toBeGreaterThan(20);
    expect(count((one) => one.grace_period_expires_at)).toBeGreaterThan(50);
    expect(count((one) => one.cancellation_reason === 'upgraded')).toBeGreaterThan(5);
    expect(count((one) => one.renew_status === false)).toBeGreaterThan(300);
    expect(count((one) => one.purchase_type === 'one_time_purchase')).toBeGreaterThan(200);
    expect(count((one) => one.environment === 'Sandbox')).toBeGreaterThan(0);
    expect(count((one) => one.is_family_shared)).toBeGreaterThan(0);
    expect(
      count((one) => one.purchase_type === 'subscription' && one.expires_at! > until.toISOString()),
    ).toBeGreaterThan(200);
  });

  it('gives every transaction an id of its own', () => {
    expect(new Set(transactions.map((one) => one.store_transaction_id)).size).toBe(transactions.length);
  });
});

describe('chance', () => {
  it('follows the weights', () => {
    const random = createRandom(3);
    const entries = [
      { weight: 9, name: 'often' },
      { weight: 1, name: 'seldom' },
    ];
    const often = Array.from({ length: 10_000 }, () => random.pick(entries)).filter(({ name }) => name === 'often');
    expect(often.length).toBeGreaterThan(8_800);
    expect(often.length).toBeLessThan(9_200);
  });
});
