// What the made-up app sells, where, and how it advertises: a few frequent values of each, and long tails.
import { createPicker, type Random, randomOf, zipf } from './random.ts';

const VOCABULARY_SEED = 1;

const BIG_COUNTRIES: readonly [string, number][] = [
  ['US', 34],
  ['GB', 8],
  ['DE', 7],
  ['JP', 6],
  ['BR', 5],
  ['FR', 5],
  ['CA', 4],
  ['IN', 4],
  ['AU', 3],
  ['MX', 3],
];
const SMALL_COUNTRIES =
  'ES IT NL SE NO DK FI PL PT TR KR TW SG HK TH VN ID PH MY ZA EG NG KE AR CL CO PE UA RO CZ HU GR IE NZ AT CH BE IL AE SA'.split(
    ' ',
  );
export const pickCountry = createPicker<readonly [string, number]>(
  [...BIG_COUNTRIES, ...SMALL_COUNTRIES.map((country, rank) => [country, 4 / (rank + 3)] as const)],
  ([, weight]) => weight,
);

export const pickStore = createPicker<readonly [string, number]>(
  [
    ['app_store', 62],
    ['play_store', 30],
    ['stripe', 8],
  ],
  ([, weight]) => weight,
);

export interface Product {
  store_product_id: string;
  duration: string;
  /** Length of a period; 0 months and 0 days is a one-time purchase. */
  months: number;
  days: number;
  /** In US cents. */
  cents: number;
  /** How likely a period is to be followed by another. */
  renewal: number;
  is_consumable: boolean;
}

interface Plan extends Omit<Product, 'store_product_id' | 'cents'> {
  weight: number;
  cents: number;
}

const SUBSCRIPTION = { months: 0, days: 0, is_consumable: false };
const PLANS: readonly Plan[] = [
  { ...SUBSCRIPTION, duration: 'Weekly', days: 7, cents: 499, renewal: 0.971, weight: 36 },
  { ...SUBSCRIPTION, duration: 'Monthly', months: 1, cents: 999, renewal: 0.966, weight: 38 },
  { ...SUBSCRIPTION, duration: '2 months', months: 2, cents: 1799, renewal: 0.9, weight: 1 },
  { ...SUBSCRIPTION, duration: '3 months', months: 3, cents: 2499, renewal: 0.87, weight: 4 },
  { ...SUBSCRIPTION, duration: '6 months', months: 6, cents: 3999, renewal: 0.8, weight: 3 },
  { ...SUBSCRIPTION, duration: 'Annual', months: 12, cents: 5999, renewal: 0.68, weight: 14 },
  { ...SUBSCRIPTION, duration: 'Lifetime', cents: 14999, renewal: 0, weight: 1 },
  { ...SUBSCRIPTION, duration: 'Lifetime', cents: 299, renewal: 0, weight: 5, is_consumable: true },
];
const VARIANTS = 12;

const weighted = PLANS.flatMap((plan, number) =>
  Array.from({ length: VARIANTS }, (_, variant) => {
    const { weight, cents, ...rest } = plan;
    const kind = plan.is_consumable ? 'coins' : plan.duration.toLowerCase().replace(' ', '_');
    const product: Product = {
      ...rest,
      store_product_id: `com.example.${kind}.v${variant + 1}`,
      cents: Math.round(cents * (1 + ((number + variant) % 5) / 10)),
    };
    return { product, weight: weight * zipf(product, variant) };
  }),
);

export const PRODUCTS: readonly Product[] = weighted.map(({ product }) => product);
const pickWeighted = createPicker(weighted, ({ weight }) => weight);
export const pickProduct = (random: Random): Product => pickWeighted(random).product;

export interface Attribution {
  status: string;
  channel: string | null;
  campaign: string | null;
  ad_group: string | null;
  ad_set: string | null;
  creative: string | null;
}

const CHANNELS = ['facebook', 'google', 'tiktok', 'apple_search', 'snapchat', 'unity', 'reddit', 'influencer'];
const AD_COUNT = 20_000;

/** Makes the ad of a rank by size. Campaigns have many creatives, and most of them bring few profiles. */
function makeAd(rank: number): Attribution {
  const random = randomOf(VOCABULARY_SEED, rank);
  const channel = CHANNELS[Math.floor(CHANNELS.length * random.next() ** 2)] as string;
  const campaign = Math.floor(120 * random.next() ** 2);
  const adGroup = random.below(6);
  const adSet = random.below(4);
  return {
    status: 'non_organic',
    channel,
    campaign: `${channel}_campaign_${campaign}`,
    ad_group: `group_${campaign}_${adGroup}`,
    ad_set: `set_${campaign}_${adGroup}_${adSet}`,
    creative: `creative_${rank}`,
  };
}

function plain(status: string): Attribution {
  return { status, channel: null, campaign: null, ad_group: null, ad_set: null, creative: null };
}

const ORGANIC = plain('organic');
const UNKNOWN = plain('unknown');
const ADS = Array.from({ length: AD_COUNT }, (_, rank) => makeAd(rank));
const pickAd = createPicker(ADS, zipf);

export const ATTRIBUTIONS: readonly Attribution[] = [ORGANIC, UNKNOWN, ...ADS];

/** Half of the profiles are organic, a few unknown. */
export function pickAttribution(random: Random): Attribution {
  const share = random.next();
  if (share < 0.5) return ORGANIC;
  return share < 0.53 ? UNKNOWN : pickAd(random);
}

export interface Placement {
  paywall_id: string | null;
  audience_id: string | null;
  placement_id: string | null;
}

const NOWHERE: Placement = { paywall_id: null, audience_id: null, placement_id: null };
const PLACEMENTS = Array.from({ length: 400 }, (_, rank): Placement => {
  const random = randomOf(VOCABULARY_SEED + 1, rank);
  return {
    paywall_id: `paywall_${Math.floor(40 * random.next() ** 2)}`,
    audience_id: `audience_${random.below(8)}`,
    placement_id: `placement_${Math.floor(15 * random.next() ** 2)}`,
  };
});
const pickShown = createPicker(PLACEMENTS, zipf);

export function pickPlacement(random: Random): Placement {
  return random.chance(0.1) ? NOWHERE : pickShown(random);
}
