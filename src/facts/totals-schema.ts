// What the totals are split by, and the codes under which fact_total keeps it. Append only.
import { PERIODS } from './codes.ts';

/** A moment of a fact that charts count at, and its column of days. The code is the place in the list. */
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
 * Columns of keys, of the facts or of their label (dim_attribution). The code is the place in the list from 1; 0 is the sum
 * of all.
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

/** Those that are columns of the label. */
export const LABEL_HOMES = [
  'attribution_key',
  'status_key',
  'channel_key',
  'campaign_key',
  'source_key',
] as const satisfies TotalHome[];

/** Of so many values that a day has nearly as many rows as facts: kept by month alone. */
export const MONTHLY_HOMES: readonly TotalHome[] = ['attribution_key', 'campaign_key'];

/** Attributes of a label of which totals are kept; a column `*_key` of dim_attribution names a row that stands for the value. */
export const TOTALLED_ATTRIBUTES = ['status', 'channel', 'campaign', 'source'] as const;

export const GRAINS = ['day', 'month'] as const;

const isPeriod = (name: (typeof PERIODS)[number]) => `f.period = ${PERIODS.indexOf(name)}`;
const IS_PAID = `f.period between ${PERIODS.indexOf('activation')} and ${PERIODS.indexOf('renewal_6_plus')}`;

/** Counts and amounts of a total, as sums over facts `f`. */
export const TOTAL_SUMS = {
  n: 'f.sign',
  n_priced: 'case when f.revenue > 0 then f.sign else 0 end',
  n_trial: `case when ${isPeriod('trial')} then f.sign else 0 end`,
  n_paid: `case when ${IS_PAID} then f.sign else 0 end`,
  n_first_paid: `case when ${isPeriod('activation')} then f.sign else 0 end`,
  n_one_time: `case when ${isPeriod('one_time')} then f.sign else 0 end`,
  n_kept: `case when ${IS_PAID} and f.refunded_at is null then f.sign else 0 end`,
  n_monthly: 'case when f.monthly_revenue is not null and f.refunded_at is null then f.sign else 0 end',
  revenue: 'f.sign * f.revenue',
  proceeds: 'f.sign * f.proceeds',
  net: 'f.sign * f.net',
  monthly_revenue: 'case when f.refunded_at is null then f.sign * coalesce(f.monthly_revenue, 0) else 0 end',
  monthly_proceeds: 'case when f.refunded_at is null then f.sign * coalesce(f.monthly_proceeds, 0) else 0 end',
  monthly_net: 'case when f.refunded_at is null then f.sign * coalesce(f.monthly_net, 0) else 0 end',
} as const;

export type TotalSum = keyof typeof TOTAL_SUMS;
