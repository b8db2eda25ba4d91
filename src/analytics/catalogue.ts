// The chart catalogue (analytics.md 2): one record per chart, from which validation, SQL, answers and docs/charts.md
// follow. To add a chart, add a record here. Pure.
import { FILTERS, type FilterVariantName, SEGMENTATIONS, type SegmentationGroup } from './chart-options.ts';
import { active, type Entries, events, INSTALLS, REFUNDS, REVENUE, recurring } from './entries.ts';

interface Described {
  metric_name: string;
  /** The heading under which it is listed. */
  group: string;
  /** Its definition in a sentence. */
  description: string;
  segmentations: SegmentationGroup;
  filters: FilterVariantName;
}

/** Sums the entries of a bucket (`flow`), or those open at its end (`stock`). */
interface Sum {
  kind: 'flow' | 'stock';
  entries: readonly Entries[];
}

/** Divides the sum of the entries by the number of installs, or of payers: distinct profiles that bought something. */
interface Ratio {
  kind: 'ratio';
  entries: readonly Entries[];
  per: 'installs' | 'payers';
}

type Definition = Described & (Sum | Ratio);

const CHARTS = {
  revenue: {
    metric_name: 'Revenue',
    group: 'Money',
    description: 'The price of every purchase at its date, less that of every refund at the date of the refund.',
    kind: 'flow',
    entries: REVENUE,
    segmentations: 'state',
    filters: 'C',
  },
  mrr: {
    metric_name: 'MRR',
    group: 'Money',
    description: 'Monthly recurring revenue: the price per month of every paid period active at the end of the bucket.',
    kind: 'stock',
    entries: recurring(1),
    segmentations: 'state',
    filters: 'C',
  },
  arr: {
    metric_name: 'ARR',
    group: 'Money',
    description: 'Annual recurring revenue: twelve times the monthly recurring revenue.',
    kind: 'stock',
    entries: recurring(12),
    segmentations: 'state',
    filters: 'C',
  },
  arpu: {
    metric_name: 'ARPU',
    group: 'Money',
    description: 'Revenue divided by the number of installs.',
    kind: 'ratio',
    entries: REVENUE,
    per: 'installs',
    segmentations: 'arpu',
    filters: 'A',
  },
  arppu: {
    metric_name: 'ARPPU',
    group: 'Money',
    description: 'Revenue divided by the number of profiles that bought something, refunded later or not.',
    kind: 'ratio',
    entries: REVENUE,
    per: 'payers',
    segmentations: 'arppu',
    filters: 'C',
  },
  installs: {
    metric_name: 'Installs',
    group: 'Installs and purchases',
    description: 'Every install at its date.',
    kind: 'flow',
    entries: [INSTALLS],
    segmentations: 'install',
    filters: 'A',
  },
  subscriptions_active: {
    metric_name: 'Active subscriptions',
    group: 'Subscriptions',
    description: 'Paid periods, not refunded, that are active at the end of the bucket.',
    kind: 'stock',
    entries: active('paid', 'not_refunded'),
    segmentations: 'state',
    filters: 'C',
  },
  subscriptions_new: {
    metric_name: 'New subscriptions',
    group: 'Subscriptions',
    description: 'The first paid period of every subscription at its purchase, refunded later or not.',
    kind: 'flow',
    entries: events('purchased', 'first_paid'),
    segmentations: 'start',
    filters: 'C',
  },
  subscriptions_renewal_cancelled: {
    metric_name: 'Cancelled subscription renewals',
    group: 'Subscriptions',
    description: 'Paid periods that will not renew, at the moment the renewal was cancelled.',
    kind: 'flow',
    entries: events('renewal_cancelled', 'paid'),
    segmentations: 'purchase',
    filters: 'B',
  },
  subscriptions_expired: {
    metric_name: 'Expired subscriptions',
    group: 'Subscriptions',
    description: 'Paid periods after which the subscription lapses, at the lapse.',
    kind: 'flow',
    entries: events('lapse', 'paid'),
    segmentations: 'expiry',
    filters: 'B',
  },
  trials_active: {
    metric_name: 'Active trials',
    group: 'Trials',
    description: 'Trials that are active at the end of the bucket.',
    kind: 'stock',
    entries: active('trial'),
    segmentations: 'state',
    filters: 'C',
  },
  trials_new: {
    metric_name: 'New trials',
    group: 'Trials',
    description: 'Every trial at its start.',
    kind: 'flow',
    entries: events('purchased', 'trial'),
    segmentations: 'start',
    filters: 'C',
  },
  trials_renewal_cancelled: {
    metric_name: 'Cancelled trials',
    group: 'Trials',
    description: 'Trials that will not renew, at the moment the renewal was cancelled.',
    kind: 'flow',
    entries: events('renewal_cancelled', 'trial'),
    segmentations: 'purchase',
    filters: 'B',
  },
  trials_expired: {
    metric_name: 'Expired trials',
    group: 'Trials',
    description: 'Trials that no purchase follows in time, at the lapse.',
    kind: 'flow',
    entries: events('lapse', 'trial'),
    segmentations: 'expiry',
    filters: 'B',
  },
  grace_period: {
    metric_name: 'Grace periods',
    group: 'Billing and refunds',
    description: 'Subscription periods that enter a grace period, at the billing issue.',
    kind: 'flow',
    entries: events('grace'),
    segmentations: 'purchase',
    filters: 'B',
  },
  billing_issue: {
    metric_name: 'Billing issues',
    group: 'Billing and refunds',
    description:
      'Billing issues at their detection; with a grace period, at its end unless the subscription continued by then.',
    kind: 'flow',
    entries: events('billing_issue'),
    segmentations: 'purchase',
    filters: 'B',
  },
  refund_events: {
    metric_name: 'Refund events',
    group: 'Billing and refunds',
    description: 'Every refunded purchase with a price, at the date of the refund.',
    kind: 'flow',
    entries: events('refunded', 'priced'),
    segmentations: 'start',
    filters: 'C',
  },
  refund_money: {
    metric_name: 'Money refunds',
    group: 'Billing and refunds',
    description: 'The price of every refunded purchase, at the date of the refund.',
    kind: 'flow',
    entries: [REFUNDS],
    segmentations: 'purchase',
    filters: 'C',
  },
  non_subscriptions: {
    metric_name: 'Non-subscription purchases',
    group: 'Installs and purchases',
    description: 'Every one-time purchase at its date, refunded or not.',
    kind: 'flow',
    entries: events('purchased', 'one_time'),
    segmentations: 'purchase',
    filters: 'C',
  },
} as const satisfies Record<string, Definition>;

export type ChartId = keyof typeof CHARTS;
export type Chart = { chart_id: ChartId } & Definition;

export const CHART_IDS = Object.keys(CHARTS) as ChartId[];

export function chart(chart_id: ChartId): Chart {
  return { chart_id, ...CHARTS[chart_id] };
}

export function segmentationsOf({ segmentations }: Chart) {
  return SEGMENTATIONS[segmentations];
}

export function filtersOf({ filters }: Chart) {
  return FILTERS[filters];
}

/** Money charts have a metric per money basis. Keys of answers and amounts in cells come in this order. */
const MONEY_KEYS = ['revenue', 'proceeds', 'net_revenue'] as const;
const COUNT_KEYS = ['common'] as const;

/** The keys of all charts. */
export const METRIC_KEYS = [...MONEY_KEYS, ...COUNT_KEYS];

/** Whether a chart divides by the number of installs, or of payers. */
export function dividesBy(chart: Chart, per: 'installs' | 'payers'): boolean {
  return chart.kind === 'ratio' && chart.per === per;
}

export function unitOf({ entries }: Chart): 'USD' | 'count' {
  return entries.some(({ amount }) => amount !== 'one') ? 'USD' : 'count';
}

export function metricKeysOf(chart: Chart): readonly string[] {
  return unitOf(chart) === 'USD' ? MONEY_KEYS : COUNT_KEYS;
}
