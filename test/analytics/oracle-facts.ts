// The oracle, part one: derives chains from transaction records one by one, as analytics.md 1 says, in plain
// TypeScript. Slow and obvious; shares no code with the service.

export interface ProfileRecord {
  customer_user_id: string;
  installed_at: string;
  country?: string;
  store?: string;
  attribution?: Record<string, string>;
}

export interface TransactionRecord {
  customer_user_id: string;
  purchase_type: 'subscription' | 'one_time_purchase';
  store: string;
  environment?: 'Production' | 'Sandbox';
  store_product_id: string;
  store_transaction_id: string;
  store_original_transaction_id: string;
  is_family_shared?: boolean;
  price: { country: string; currency: string; value: number; proceeds_usd?: number; tax_usd?: number };
  purchased_at: string;
  originally_purchased_at?: string;
  expires_at?: string;
  renew_status?: boolean;
  renew_status_changed_at?: string;
  billing_issue_detected_at?: string;
  grace_period_expires_at?: string;
  offer?: { category: string; type: string; id: string | null };
  paywall_id?: string;
  audience_id?: string;
  placement_id?: string;
  refunded_at?: string;
  cancellation_reason?: string;
}

export interface ProductRecord {
  store: string;
  store_product_id: string;
  duration: string;
}

export interface Fact {
  profile: ProfileRecord;
  dimensions: Record<string, string>;
  /** Revenue, proceeds and net revenue, in 10^-9 USD. */
  price: bigint[];
  monthly: bigint[] | null;
  isTrial: boolean;
  isOneTime: boolean;
  /** The number of the paid period, from 1; 0 if it is not paid. */
  number: number;
  purchasedAt: number;
  activeUntil: number;
  lapseAt: number | null;
  refundedAt: number | null;
  cancelledAt: number | null;
  graceAt: number | null;
  billingIssueAt: number | null;
}

export interface World {
  readonly profiles: ProfileRecord[];
  readonly transactions: TransactionRecord[];
  readonly products: ProductRecord[];
  readonly now: number;
}

const DAY_MS = 86_400_000;
const COMMISSION: Record<string, bigint> = { app_store: 30n, play_store: 30n };

const CLASSES: [number, number, string][] = [
  [6, 8, 'Weekly'],
  [28, 31, 'Monthly'],
  [59, 62, '2 months'],
  [89, 93, '3 months'],
  [180, 184, '6 months'],
  [360, 372, 'Annual'],
];
const MONTHS: Record<string, [bigint, bigint]> = {
  Weekly: [12n, 52n],
  Monthly: [1n, 1n],
  '2 months': [2n, 1n],
  '3 months': [3n, 1n],
  '6 months': [6n, 1n],
  Annual: [12n, 1n],
};

/** Upper bound of the monthly amount of an Uncategorized period, however short, in 10^-9 USD. */
const MAX_MONTHLY = 10n ** 18n;

export function divide(a: bigint, b: bigint): bigint {
  const sign = a < 0n ? -1n : 1n;
  return (sign * (2n * sign * a + b)) / (2n * b);
}

function nano(usd: number): bigint {
  return BigInt(Math.round(usd * 1e6)) * 1000n;
}

function amounts({ store, price }: TransactionRecord): bigint[] {
  const revenue = nano(price.value);
  const commission = COMMISSION[store] ?? 0n;
  const proceeds =
    price.proceeds_usd === undefined ? divide(revenue * (100n - commission), 100n) : nano(price.proceeds_usd);
  return [revenue, proceeds, proceeds - nano(price.tax_usd ?? 0)];
}

function time(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}

function lengthOf(record: TransactionRecord): number {
  return Date.parse(record.expires_at!) - Date.parse(record.purchased_at);
}

function classOf(record: TransactionRecord): string | undefined {
  const days = Math.round(lengthOf(record) / DAY_MS);
  return CLASSES.find(([min, max]) => days >= min && days <= max)?.[2];
}

export function profileDimensions({ country, store, attribution }: ProfileRecord): Record<string, string> {
  return {
    country: (country ?? '').toLowerCase(),
    store: store ?? '',
    attribution_status: attribution?.status ?? '',
    attribution_channel: attribution?.channel ?? '',
    attribution_campaign: attribution?.campaign ?? '',
    attribution_adgroup: attribution?.ad_group ?? '',
    attribution_adset: attribution?.ad_set ?? '',
    attribution_creative: attribution?.creative ?? '',
    attribution_source: attribution ? (attribution.source ?? 'custom') : '',
  };
}

function periodOf(fact: { isOneTime: boolean; isTrial: boolean; number: number }): string {
  if (fact.isOneTime) return 'one_time';
  if (fact.isTrial) return 'trial';
  if (fact.number === 1) return 'activation';
  return fact.number <= 6 ? `renewal_${fact.number - 1}` : 'renewal_6_plus';
}

function renewalStatus({ purchase_type, renew_status }: TransactionRecord): string {
  if (purchase_type === 'one_time_purchase') return 'none';
  return renew_status ? 'will_renew' : 'will_not_renew';
}

function configured(world: World, { store, store_product_id }: TransactionRecord): string | undefined {
  return world.products.find((one) => one.store === store && one.store_product_id === store_product_id)?.duration;
}

/** Derives the facts of one chain from its transactions, which are in order. */
function chainFacts(world: World, chain: TransactionRecord[]): Fact[] {
  const profile = world.profiles.find(({ customer_user_id }) => customer_user_id === chain[0]!.customer_user_id)!;
  const isTrial = chain.map((one, i) => one.offer?.type === 'free_trial' || (i === 0 && one.price.value === 0));
  const firstPaid = chain[isTrial.indexOf(false)];
  const past = (at: number | null) => (at !== null && at <= world.now ? at : null);

  return chain.map((record, i): Fact => {
    const isOneTime = record.purchase_type === 'one_time_purchase';
    const trial = !isOneTime && isTrial[i]!;
    const number = isOneTime || trial ? 0 : isTrial.slice(0, i + 1).filter((one) => !one).length;
    const [own, next] = [record.grace_period_expires_at ?? record.expires_at, chain[i + 1]];
    const ownEnd = isOneTime ? Number.POSITIVE_INFINITY : Date.parse(own!);
    const nextAt = next ? Date.parse(next.purchased_at) : Number.POSITIVE_INFINITY;
    const refundedAt = past(time(record.refunded_at));
    const end = refundedAt !== null && refundedAt < ownEnd ? refundedAt : ownEnd;

    const duration = configured(world, record) ?? unconfigured(world, record, { trial, firstPaid }) ?? 'Uncategorized';
    const price = amounts(record);
    const price_country = record.price.country.toLowerCase();
    return {
      profile,
      price,
      monthly: number > 0 ? monthly(record, duration, price) : null,
      isTrial: trial,
      isOneTime,
      number,
      purchasedAt: Date.parse(record.purchased_at),
      activeUntil: Math.min(ownEnd, nextAt),
      lapseAt: isOneTime || nextAt <= end ? null : end,
      refundedAt,
      cancelledAt: record.renew_status === false ? time(record.renew_status_changed_at) : null,
      graceAt: record.grace_period_expires_at ? time(record.billing_issue_detected_at) : null,
      billingIssueAt: billingIssue(record, nextAt),
      dimensions: {
        ...profileDimensions(profile),
        country: price_country,
        store: record.store,
        store_product_id: record.store_product_id,
        paywall_id: record.paywall_id ?? '',
        audience_id: record.audience_id ?? '',
        placement_id: record.placement_id ?? '',
        duration,
        renewal_status: renewalStatus(record),
        period: periodOf({ isOneTime, isTrial: trial, number }),
        offer_category: record.offer?.category ?? '',
        offer_type: record.offer?.type ?? '',
        offer_id: record.offer?.id ?? '',
        cancellation_reason: record.cancellation_reason ?? '',
      },
    };
  });
}

/** Classifies a record without a configured product. A trial takes the duration of its chain's first paid period. */
function unconfigured(
  world: World,
  record: TransactionRecord,
  { trial, firstPaid }: { trial: boolean; firstPaid: TransactionRecord | undefined },
): string | undefined {
  if (record.purchase_type === 'one_time_purchase') return 'Lifetime';
  if (!trial) return classOf(record);
  return firstPaid && (configured(world, firstPaid) ?? classOf(firstPaid));
}

function billingIssue(record: TransactionRecord, nextAt: number): number | null {
  if (record.purchase_type === 'one_time_purchase') return null;
  const graceEnd = time(record.grace_period_expires_at);
  if (graceEnd === null) return time(record.billing_issue_detected_at);
  return nextAt <= graceEnd ? null : graceEnd;
}

function monthly(record: TransactionRecord, duration: string, price: bigint[]): bigint[] | null {
  const months = MONTHS[classOf(record) ?? duration];
  if (months) return price.map((one) => divide(one * months[1], months[0]));
  if (duration === 'Lifetime') return null;
  const exact = price.map((one) => divide(one * 365n * BigInt(DAY_MS), 12n * BigInt(lengthOf(record))));
  return exact.map((one) => (one > MAX_MONTHLY ? MAX_MONTHLY : one));
}

const factsOf = new WeakMap<World, Fact[]>();

/** Derives the facts of a world once, because many questions are asked about it. */
export function deriveFacts(world: World): Fact[] {
  const facts = factsOf.get(world) ?? deriveFromRecords(world);
  factsOf.set(world, facts);
  return facts;
}

function deriveFromRecords(world: World): Fact[] {
  const chains = new Map<string, TransactionRecord[]>();
  for (const record of world.transactions) {
    if (record.environment === 'Sandbox' || record.is_family_shared) continue;
    const name = JSON.stringify([record.store, record.purchase_type, record.store_original_transaction_id]);
    chains.set(name, [...(chains.get(name) ?? []), record]);
  }
  return [...chains.values()].flatMap((chain) =>
    chainFacts(
      world,
      chain.sort(
        (a, b) =>
          Date.parse(a.purchased_at) - Date.parse(b.purchased_at) ||
          (a.store_transaction_id < b.store_transaction_id ? -1 : 1),
      ),
    ),
  );
}
