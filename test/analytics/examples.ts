// Hand-made histories with their questions, for what totals and columns could get wrong and generated histories rarely
// have. All examples share one world, because an import takes a while however small it is; days and labels keep them
// apart.
import fc from 'fast-check';
import { CHART_IDS } from '../../src/analytics/catalogue.ts';
import { history, NOW, PRODUCTS } from './histories.ts';
import type { World } from './oracle-facts.ts';
import type { Asked } from './questions.ts';

export const APP_ZONE = 'America/New_York';

const BY_DAY = { period_unit: 'day', date_type: 'purchase_date' };

const aMonthLater = (at: Date) => new Date(at.getTime() + 28 * 86_400_000).toISOString();
/** A subscription period that is a chain by itself. */
const period = (id: string, at: Date, value: number): World['transactions'][number] => ({
  customer_user_id: id,
  purchase_type: 'subscription',
  store: 'app_store',
  store_product_id: 'monthly',
  store_transaction_id: id,
  store_original_transaction_id: id,
  price: { country: 'DE', currency: 'USD', value },
  purchased_at: at.toISOString(),
  originally_purchased_at: at.toISOString(),
  expires_at: aMonthLater(at),
  renew_status: true,
});

type Example = [Pick<World, 'profiles' | 'transactions'>, Asked[]];

/** Asks these questions by the days of a zone. */
const inZone = (zoneName: string, questions: Asked['question'][]): Asked[] =>
  questions.map((question) => ({ question, zoneName }));

/**
 * Rare in generated histories: periods that ended this month but before the days in question, of which monthly totals
 * have only the beginnings; and a label without a channel.
 */
const RARE: Example = [
  {
    profiles: ['p0', 'p1', 'p2'].map((id) => ({
      customer_user_id: id,
      installed_at: '2025-01-02T00:00:00Z',
      attribution: { status: 'non_organic', ...(id !== 'p0' && { channel: 'social' }), campaign: id },
    })),
    transactions: ['p0', 'p1', 'p2'].map((id) => ({
      ...period(id, new Date('2025-03-05T12:00:00Z'), 10),
      expires_at: '2025-04-05T12:00:00Z',
    })),
  },
  inZone(
    APP_ZONE,
    ['subscriptions_active', 'mrr', 'subscriptions_new', 'installs'].flatMap((chart_id) =>
      [['2025-04-20'], ['2025-04-04', '2025-04-20'], ['2025-01-01', '2025-05-31']].flatMap((date) => [
        { chart_id, ...BY_DAY, segmentation: 'attribution_channel', filters: { date } },
        { chart_id, ...BY_DAY, segmentation: 'attribution_status', filters: { date } },
        {
          chart_id,
          ...BY_DAY,
          segmentation: 'attribution_adset',
          filters: { attribution_channel: ['social', ''], date },
        },
      ]),
    ),
  ),
];

/** Every other hour of two days, starting on this one. */
const hoursFrom = (year: number, month: number, day: number) =>
  Array.from({ length: 24 }, (_, i) => new Date(Date.UTC(year, month - 1, day, 2 * i, 30)));

const HOURS = hoursFrom(2025, 2, 3);

/** Purchases, ends and installs at these hours, with the days of a zone that is 5:45 ahead of UTC. */
const HOURLY: Example = [
  {
    profiles: HOURS.map((at, i) => ({
      customer_user_id: `h${i}`,
      installed_at: at.toISOString(),
      attribution: { status: 'non_organic', channel: 'social', campaign: `c${i % 3}` },
    })),
    transactions: HOURS.map((at, i) => ({
      ...period(`h${i}`, at, 10),
      renew_status: false,
      renew_status_changed_at: aMonthLater(at),
    })),
  },
  inZone(
    'Asia/Kathmandu',
    ['subscriptions_active', 'arppu', 'arpu', 'subscriptions_renewal_cancelled'].flatMap((chart_id) =>
      [['2025-02-04'], ['2025-03-02', '2025-03-06']].map((date) => ({
        chart_id,
        ...BY_DAY,
        segmentation: 'attribution_campaign',
        filters: { date },
      })),
    ),
  ),
];

/** In months that no other example uses. */
const LARGE_HOURS = hoursFrom(2024, 9, 3);

/** Amounts whose sums do not fit into 64 bits. */
const LARGE: Example = [
  {
    profiles: LARGE_HOURS.map((_, i) => ({
      customer_user_id: `l${i}`,
      installed_at: '2024-09-02T00:00:00Z',
      attribution: { status: 'non_organic', channel: 'social', campaign: `c${i % 3}` },
    })),
    transactions: LARGE_HOURS.map((at, i) => period(`l${i}`, at, 1_000_000_000)),
  },
  inZone(
    APP_ZONE,
    ['revenue', 'arr', 'arppu'].flatMap((chart_id) =>
      ['country', 'attribution_channel', 'attribution_campaign'].map((segmentation) => ({
        chart_id,
        period_unit: 'month',
        date_type: 'purchase_date',
        segmentation,
        filters: { date: ['2024-09-01', '2024-11-30'] },
      })),
    ),
  ),
];

/** Several generated histories, the same ones in every run, with trials, refunds and the rest. */
const HISTORIES: World[] = fc
  .sample(history, { seed: 5, numRuns: 6 })
  .map((world, i) => JSON.parse(JSON.stringify(world).replace(/"([pso]\d)/g, `"${i}$1`)));

/** Those histories merged into one, asked for what totals do not have: one dimension within another. */
const MANY: Example = [
  {
    profiles: HISTORIES.flatMap(({ profiles }) => profiles),
    transactions: [
      ...HISTORIES.flatMap(({ transactions }) => transactions),
      { ...period('today', new Date('2025-04-20T12:00:00Z'), 10), customer_user_id: '0p0' },
    ],
  },
  inZone(
    APP_ZONE,
    CHART_IDS.flatMap((chart_id) =>
      ['2024-12-15', '2025-03-10'].map((first) => ({
        chart_id,
        period_unit: 'week',
        date_type: 'purchase_date',
        segmentation: 'attribution_campaign',
        filters: { date: [first, '2025-04-20'], country: ['us', 'de'] },
      })),
    ),
  ),
];

/** Takes one of each list in turn, so that any part of the result has some of every example. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

const ALL = [RARE, HOURLY, LARGE, MANY];

export const EXAMPLE: [World, Asked[]] = [
  {
    profiles: interleave(ALL.map(([{ profiles }]) => profiles)),
    transactions: interleave(ALL.map(([{ transactions }]) => transactions)),
    products: PRODUCTS,
    now: NOW,
  },
  ALL.flatMap(([_, asked]) => asked),
];
