// The moments and columns by which totals are split, and their codes in fact_total. Append only.
import { FACT_IS } from './conditions.ts';

/** The moments at which charts count a fact, with the columns of their days. The code is the place in the list. */
export const TOTAL_MOMENTS = [
  ['purchased', 'purchased_day'],
  ['active_until', 'active_until_day'],
  ['lapse', 'lapse_day'],
  ['refunded', 'refunded_day'],
  ['renewal_cancelled', 'renewal_cancelled_day'],
  ['grace', 'grace_day'],
  ['billing_issue', 'billing_issue_day'],
] as const;

/**
 * Columns of keys by which totals are split: of the facts, or of their label (dim_attribution). A column's code is its
 * place in the list, from 1; 0 is the sum of all.
 */
export const TOTAL_HOMES = [
  'country_key',
  'store_key',
  'product_key',
  'placement_key',
  'offer_key',
  'period',
  'duration',
  'renewal_status',
  'cancellation_reason',
  'attribution_key',
  'status_key',
  'channel_key',
  'campaign_key',
  'source_key',
] as const;

export type TotalHome = (typeof TOTAL_HOMES)[number];

/** Throws if no totals are kept by that moment. */
export function momentCode(name: string): number {
  const code = TOTAL_MOMENTS.findIndex(([one]) => one === name);
  if (code === -1) throw new Error(`totals are not kept by ${name}`);
  return code;
}

/** Returns the code of a home; without one, the code of the sum of all. */
export function homeCode(home: TotalHome | undefined): number {
  return home ? TOTAL_HOMES.indexOf(home) + 1 : 0;
}

/** The homes that are columns of the label. */
export const LABEL_HOMES = [
  'attribution_key',
  'status_key',
  'channel_key',
  'campaign_key',
  'source_key',
] as const satisfies TotalHome[];

/** Homes with so many values that a day would have nearly as many rows as facts; they are totalled by month only. */
export const MONTHLY_HOMES: readonly TotalHome[] = ['attribution_key', 'campaign_key'];

/** Attributes of a label with totals. A `*_key` column of dim_attribution names a row that stands for the value. */
export const TOTALLED_ATTRIBUTES = ['status', 'channel', 'campaign', 'source'] as const;

export const GRAINS = ['day', 'month'] as const;

const signIf = (condition: string) => `case when ${condition} then f.sign else 0 end`;
const ifKept = (amount: string) => `case when ${FACT_IS.not_refunded} then f.sign * coalesce(${amount}, 0) else 0 end`;

/** Counts and amounts of a total, as sums over facts `f`. */
export const TOTAL_SUMS = {
  n: 'f.sign',
  n_priced: signIf(FACT_IS.priced),
  n_trial: signIf(FACT_IS.trial),
  n_paid: signIf(FACT_IS.paid),
  n_first_paid: signIf(FACT_IS.first_paid),
  n_one_time: signIf(FACT_IS.one_time),
  n_kept: signIf(`${FACT_IS.paid} and ${FACT_IS.not_refunded}`),
  n_monthly: signIf(`${FACT_IS.adds_monthly} and ${FACT_IS.not_refunded}`),
  revenue: 'f.sign * f.revenue',
  proceeds: 'f.sign * f.proceeds',
  net: 'f.sign * f.net',
  monthly_revenue: ifKept('f.monthly_revenue'),
  monthly_proceeds: ifKept('f.monthly_proceeds'),
  monthly_net: ifKept('f.monthly_net'),
} as const;

export type TotalSum = keyof typeof TOTAL_SUMS;
