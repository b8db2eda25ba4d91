// The segmentation and filter tables of interface 4.2, verbatim; chart groups are listed as chart ids.
import type { ChartId } from '../../src/analytics/catalogue.ts';

export const SEGMENTATION_TABLE: readonly (readonly [readonly ChartId[], string])[] = [
  [
    ['arpu'],
    'country, store, attribution_status, attribution_channel, attribution_campaign, attribution_adgroup, attribution_adset, attribution_creative, attribution_source, period',
  ],
  [
    ['revenue', 'mrr', 'arr', 'subscriptions_active', 'trials_active'],
    'country, store, attribution_status, attribution_channel, attribution_campaign, attribution_adgroup, attribution_adset, attribution_creative, attribution_source, store_product_id, paywall_id, audience_id, placement_id, duration, renewal_status, period, offer_category, offer_type, offer_id',
  ],
  [
    ['arppu'],
    'country, store, attribution_status, attribution_channel, attribution_campaign, attribution_adgroup, attribution_adset, attribution_creative, attribution_source, store_product_id, paywall_id, audience_id, placement_id, duration, renewal_status, period',
  ],
  [
    ['subscriptions_new', 'trials_new', 'refund_events'],
    'country, store, attribution_status, attribution_channel, attribution_campaign, attribution_adgroup, attribution_adset, attribution_creative, attribution_source, store_product_id, paywall_id, audience_id, placement_id, duration, offer_category, offer_type, offer_id',
  ],
  [
    ['subscriptions_expired', 'trials_expired'],
    'country, store, attribution_status, attribution_channel, attribution_campaign, attribution_adgroup, attribution_adset, attribution_creative, attribution_source, store_product_id, paywall_id, audience_id, placement_id, duration, cancellation_reason',
  ],
  [
    [
      'subscriptions_renewal_cancelled',
      'trials_renewal_cancelled',
      'grace_period',
      'billing_issue',
      'refund_money',
      'non_subscriptions',
    ],
    'country, store, attribution_status, attribution_channel, attribution_campaign, attribution_adgroup, attribution_adset, attribution_creative, attribution_source, store_product_id, paywall_id, audience_id, placement_id, duration',
  ],
  [
    ['installs'],
    'country, store, attribution_status, attribution_channel, attribution_campaign, attribution_adgroup, attribution_adset, attribution_creative, attribution_source',
  ],
];

const VARIANT_A: readonly ChartId[] = ['arpu', 'installs'];
const VARIANT_B: readonly ChartId[] = [
  'trials_renewal_cancelled',
  'trials_expired',
  'grace_period',
  'billing_issue',
  'subscriptions_renewal_cancelled',
  'subscriptions_expired',
];

/** member | variant A | variant B | variant C */
const FILTER_TABLE = `
date | required | required | required
compare_date | no | no | optional
store | yes | yes | yes
country | yes | yes | yes
store_product_id | no | yes | yes
duration | no | yes | yes
attribution_source | yes | yes | yes
attribution_status | yes | yes | yes
attribution_channel | yes | yes | yes
attribution_campaign | yes | yes | yes
attribution_adgroup | yes | yes | yes
attribution_adset | yes | yes | yes
attribution_creative | yes | yes | yes
offer_category | no | no | yes
offer_type | no | no | yes
offer_id | no | no | yes`;

/** Returns the members of `filters` that a chart takes, in the order of the table. */
export function filterMembersOf(chart: ChartId): string[] {
  const column = VARIANT_A.includes(chart) ? 1 : VARIANT_B.includes(chart) ? 2 : 3;
  const rows = FILTER_TABLE.trim()
    .split('\n')
    .map((row) => row.split(' | '));
  return rows.filter((row) => row[column] !== 'no').map((row) => row[0]!);
}
