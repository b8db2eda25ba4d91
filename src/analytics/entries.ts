// The dated entries, derived from facts, that charts sum (analytics.md 2).
import type { FACT_IS } from '../facts/conditions.ts';
import type { TotalSum } from '../facts/totals-schema.ts';

/** A point in time that a fact has, both as an instant and as a day in the app's zone. */
export type Moment =
  | 'installed'
  | 'purchased'
  | 'refunded'
  | 'renewal_cancelled'
  | 'lapse'
  | 'grace'
  | 'billing_issue'
  | 'active_until';

/** A condition that a transaction must meet to make an entry. */
export type Condition = keyof typeof FACT_IS;

/** One kind of entry of a chart: facts that count at a moment, or from it until another. */
export interface Entries {
  of: 'install' | 'transaction';
  at: Moment;
  until?: Moment;
  where: readonly Condition[];
  /** What one entry adds: 1, or on each money basis the price or the price per month. */
  amount: 'one' | 'price' | 'monthly';
  times: 1 | -1 | 12;
}

/** The columns that are summed, one per money basis; facts and totals have them alike. A count sums none. */
export const AMOUNTS = {
  one: [],
  price: ['revenue', 'proceeds', 'net'],
  monthly: ['monthly_revenue', 'monthly_proceeds', 'monthly_net'],
} as const satisfies Record<Entries['amount'], readonly TotalSum[]>;

const ONE = { of: 'transaction', amount: 'one', times: 1 } as const;
const PRICE = { of: 'transaction', amount: 'price', times: 1, where: ['priced'] } as const;

export const INSTALLS: Entries = { of: 'install', at: 'installed', where: [], amount: 'one', times: 1 };
export const PURCHASES: Entries = { ...PRICE, at: 'purchased' };
export const REFUNDS: Entries = { ...PRICE, at: 'refunded' };
export const REVENUE: readonly Entries[] = [PURCHASES, { ...REFUNDS, times: -1 }];

export function events(at: Moment, ...where: Condition[]): readonly Entries[] {
  return [{ ...ONE, at, where }];
}

export function active(...where: Condition[]): readonly Entries[] {
  return [{ ...ONE, at: 'purchased', until: 'active_until', where }];
}

export function recurring(times: 1 | 12): readonly Entries[] {
  const where = ['paid', 'not_refunded', 'adds_monthly'] as const;
  return [{ of: 'transaction', at: 'purchased', until: 'active_until', where, amount: 'monthly', times }];
}
