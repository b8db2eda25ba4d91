// What one made-up profile buys: subscriptions that may begin with a trial, renew, meet billing issues, lapse, are
// refunded and come back, and one-time purchases. The transactions have the form of analytics.md 1.
import type { TransactionBody } from '../../src/purchases/schema.ts';
import type { Random } from './random.ts';
import { type Placement, type Product, pickPlacement, pickProduct } from './vocabulary.ts';

export type Transaction = TransactionBody;

interface Buyer {
  installed_at: number;
  country: string;
  store: string;
}

interface Setting {
  random: Random;
  end: number;
  /** Makes the ids of the profile's transactions unique. */
  name: string;
}

/** One subscription under way. */
interface Chain extends Setting {
  buyer: Buyer;
  product: Product;
  placement: Placement;
  original: string;
  begun: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function buyEverything(buyer: Buyer, setting: Setting): Transaction[] {
  const { random, end } = setting;
  const bought: Transaction[] = [];
  let at = buyer.installed_at + Math.floor(-Math.log(1 - random.next()) * 4 * DAY_MS) + 60_000;
  for (let number = 0; number < 4 && at < end; number++) {
    const product = pickProduct(random);
    const original = `${setting.name}-${number}`;
    const chain = { ...setting, buyer, product, placement: pickPlacement(random), original, begun: at };
    bought.push(...(product.renewal > 0 ? subscribe(chain) : buyOnce(chain)));
    // Some come back after a while, for the same or something else.
    if (!random.chance(0.5)) break;
    at = Date.parse(bought.at(-1)?.expires_at ?? bought.at(-1)!.purchased_at) + random.below(90) * DAY_MS + HOUR_MS;
  }
  return bought;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function addMonths(at: number, months: number): number {
  const date = new Date(at);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return date.setUTCDate(Math.min(day, last));
}

function common(chain: Chain, cents: number) {
  const { buyer, product, placement, random, original } = chain;
  const value = cents / 100;
  return {
    store: buyer.store,
    environment: random.chance(0.005) ? ('Sandbox' as const) : ('Production' as const),
    is_family_shared: random.chance(0.004),
    store_product_id: product.store_product_id,
    store_original_transaction_id: original,
    price: { country: buyer.country, currency: 'USD', value, tax_usd: Math.floor(cents / 20) / 100 },
    ...placement,
  };
}

/** Returns a refund, if there is one that is known by the end of the data. */
function refund(chain: Chain, at: number): Partial<Transaction> | undefined {
  const refundedAt = at + chain.random.below(10 * 24) * HOUR_MS + HOUR_MS;
  if (!chain.random.chance(0.012) || refundedAt >= chain.end) return undefined;
  return { refunded_at: iso(refundedAt), cancellation_reason: 'refund' };
}

function buyOnce(chain: Chain): Transaction[] {
  const { product, original, begun } = chain;
  return [
    {
      ...common(chain, product.cents),
      purchase_type: 'one_time_purchase',
      store_transaction_id: original,
      purchased_at: iso(begun),
      ...refund(chain, begun),
    } as Transaction,
  ];
}

/** How a period ends: when the next one begins (undefined if none does), and what the period's record says about it. */
interface Ending {
  next: number | undefined;
  record: Partial<Transaction>;
}

/** Lets the customer, the bank or nobody end a subscription. Nothing that lies after the end of the data is known. */
function endPeriod(chain: Chain, { from, until, isTrial }: { from: number; until: number; isTrial: boolean }): Ending {
  const { random, product, end } = chain;
  const refunded = isTrial ? undefined : refund(chain, from);
  if (refunded) {
    return {
      next: undefined,
      record: { renew_status: false, renew_status_changed_at: refunded.refunded_at!, ...refunded },
    };
  }
  if (random.chance(0.02)) return meetBillingIssue(chain, until);
  if (random.chance(isTrial ? 0.6 : product.renewal)) {
    return { next: until - (random.chance(0.3) ? random.below(HOUR_MS) : 0), record: { renew_status: true } };
  }
  const cancelledAt = from + Math.floor(random.next() * (until - from));
  if (cancelledAt >= end) return { next: undefined, record: { renew_status: true } };
  const reason = random.chance(0.93) ? 'voluntarily_cancelled' : random.chance(0.5) ? 'price_increase' : 'unknown';
  const record = {
    renew_status: false,
    renew_status_changed_at: iso(cancelledAt),
    cancellation_reason: reason,
  } as const;
  return { next: undefined, record };
}

function meetBillingIssue({ random, end }: Chain, until: number): Ending {
  if (until >= end) return { next: undefined, record: { renew_status: true } };
  const graceEnd = until + 16 * DAY_MS;
  const hasGrace = random.chance(0.6);
  const record: Partial<Transaction> = {
    renew_status: true,
    billing_issue_detected_at: iso(until),
    ...(hasGrace && { grace_period_expires_at: iso(graceEnd) }),
  };
  if (random.chance(0.6)) return { next: until + random.below(14 * DAY_MS) + HOUR_MS, record };
  if (graceEnd >= end) return { next: undefined, record };
  const lost = {
    renew_status: false,
    renew_status_changed_at: iso(graceEnd),
    cancellation_reason: 'billing_error',
  } as const;
  return { next: undefined, record: { ...record, ...lost } };
}

function introductory({ random }: Chain): Transaction['offer'] {
  if (random.chance(0.8)) return null;
  const number = Math.floor(30 * random.next() ** 2);
  const category = random.chance(0.7) ? 'promotional' : random.chance(0.5) ? 'offer_code' : 'win_back';
  return { category, type: random.chance(0.5) ? 'pay_as_you_go' : 'pay_up_front', id: `${category}_${number}` };
}

function subscribe(chain: Chain): Transaction[] {
  const { product, random, end, original, begun } = chain;
  const periods: Transaction[] = [];
  const startsWithTrial = random.chance(0.5);
  const offer = startsWithTrial ? null : introductory(chain);
  for (let from: number | undefined = begun; from !== undefined && from < end; ) {
    const isTrial = periods.length === 0 && startsWithTrial;
    const isFirstPaid = periods.length === (startsWithTrial ? 1 : 0);
    const until: number = isTrial
      ? from + (product.days === 7 ? 3 : 7) * DAY_MS
      : product.days > 0
        ? from + product.days * DAY_MS
        : addMonths(from, product.months);
    const { next, record } = endPeriod(chain, { from, until, isTrial });
    const cents = isTrial ? 0 : isFirstPaid && offer ? Math.round(product.cents / 2) : product.cents;
    periods.push({
      ...common(chain, cents),
      purchase_type: 'subscription',
      store_transaction_id: `${original}-${periods.length}`,
      purchased_at: iso(from),
      originally_purchased_at: iso(begun),
      expires_at: iso(until),
      offer: isTrial ? { category: 'introductory', type: 'free_trial' } : isFirstPaid ? offer : null,
      ...record,
    } as Transaction);
    from = next;
  }
  return periods;
}
