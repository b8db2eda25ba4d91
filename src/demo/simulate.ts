// A seeded simulation of an app's people over two years: a growing number of installs, attribution, subscriptions,
// one-time purchases. Pure.
import { DAY_MS } from '../lib/datetime.ts';
import { COINS, COUNTRIES, LIFETIME, PLANS, SOURCES, STORES } from './market.ts';
import { createRandom, type Random } from './random.ts';
import { iso, type ProfileRecord, priceOf, type TransactionRecord } from './records.ts';
import { type Buyer, simulateSubscription } from './subscription.ts';

const SPAN_DAYS = 730;
const CONVERSION = 0.28;

export interface Life {
  profile: ProfileRecord;
  transactions: TransactionRecord[];
}

export interface SimulationOptions {
  seed: number;
  profiles: number;
  /** The last moment that is known. */
  until: Date;
}

/** Yields one life after the other; each depends only on the seed and its number. */
export function* simulate({ seed, profiles, until }: SimulationOptions): Generator<Life> {
  for (let number = 1; number <= profiles; number++) {
    yield simulateLife(createRandom(seed * 1_000_003 + number), number, until.getTime());
  }
}

function simulateLife(random: Random, number: number, untilMs: number): Life {
  const country = random.pick(COUNTRIES);
  const store = random.pick(STORES);
  const buyer: Buyer = { customer_user_id: `user-${number}`, country, store };
  // The square root favours later days: the app grows.
  const installMs = untilMs - SPAN_DAYS * DAY_MS * (1 - Math.sqrt(random.next()));
  const profile: ProfileRecord = {
    customer_user_id: buyer.customer_user_id,
    installed_at: iso(installMs),
    country: country.country,
    store: store.store,
    custom_attributes: { sessions: Math.ceil(random.between(0, 200)), goal: random.chance(0.6) ? 'learn' : 'relax' },
    ...simulateAttribution(random, number),
  };
  const transactions = [
    ...subscribe(random, buyer, { number, installMs, untilMs }),
    ...buyOnce(random, buyer, { number, installMs, untilMs }),
  ];
  return { profile, transactions };
}

function simulateAttribution(random: Random, number: number): Pick<ProfileRecord, 'attribution'> {
  const { status, channel, campaigns } = random.pick(SOURCES);
  // For some organic installs, nobody ever reports anything.
  if (status === 'organic' && random.chance(0.3)) return {};
  if (channel === null) return { attribution: { status } };
  const campaign = campaigns[Math.floor(random.next() * campaigns.length)] ?? null;
  const piece = 1 + Math.floor(random.next() ** 2 * 6);
  return {
    attribution: {
      status,
      channel,
      campaign,
      ad_group: `${campaign}_${random.chance(0.7) ? 'broad' : 'narrow'}`,
      ad_set: `set_${Math.ceil(piece / 2)}`,
      creative: `creative_${piece}`,
      attribution_user_id: `ad-${number}`,
    },
  };
}

interface Span {
  number: number;
  installMs: number;
  untilMs: number;
}

function subscribe(random: Random, buyer: Buyer, { number, installMs, untilMs }: Span): TransactionRecord[] {
  if (!random.chance(CONVERSION)) return [];
  // Most decide on the first day, some after weeks.
  const startMs = installMs + (random.chance(0.7) ? random.between(0.001, 0.05) : random.between(1, 60)) * DAY_MS;
  if (startMs >= untilMs) return [];
  const plan = random.pick(PLANS);
  const records = simulateSubscription(random, { buyer, chainId: `sub-${number}`, plan, startMs, untilMs });
  if (random.chance(0.01)) return records.map((record) => ({ ...record, environment: 'Sandbox' }));
  if (random.chance(0.02)) return records.map((record) => ({ ...record, is_family_shared: true }));
  return records;
}

function buyOnce(random: Random, buyer: Buyer, { number, installMs, untilMs }: Span): TransactionRecord[] {
  const records: TransactionRecord[] = [];
  const add = ({ id, usd }: { id: string; usd: number }) => {
    const boughtMs = installMs + random.between(0, 200) * DAY_MS;
    if (boughtMs >= untilMs) return;
    const transactionId = `buy-${number}.${records.length + 1}`;
    records.push({
      customer_user_id: buyer.customer_user_id,
      purchase_type: 'one_time_purchase',
      store: buyer.store.store,
      store_product_id: id,
      store_transaction_id: transactionId,
      store_original_transaction_id: transactionId,
      price: priceOf(usd, buyer.country, buyer.store),
      purchased_at: iso(boughtMs),
    });
  };
  while (random.chance(0.12)) add(COINS);
  if (random.chance(0.006)) add(LIFETIME);
  return records;
}
