// One simulated subscription: trial, renewals, billing trouble, upgrade, refund, end and return. Nothing happens after
// `until`. Pure.
import { DAY_MS } from '../lib/datetime.ts';
import { type Country, PAYWALLS, PLANS, type Plan, type Store } from './market.ts';
import type { Random } from './random.ts';
import { iso, type Offer, priceOf, type TransactionRecord } from './records.ts';

const GRACE_MS = 16 * DAY_MS;
const TRIAL_DAYS = 7;

const CONVERSION = 0.45;
const BILLING_TROUBLE = 0.06;
const RECOVERY = 0.6;
const REFUND = 0.02;
const UPGRADE = 0.03;
const RETURN = 0.15;

export interface Buyer {
  customer_user_id: string;
  country: Country;
  store: Store;
}

export interface Subscribing {
  buyer: Buyer;
  chainId: string;
  plan: Plan;
  startMs: number;
  untilMs: number;
}

/** How a period ends: `nextMs` is when the following one begins, undefined if none does. */
interface Ending {
  members: Partial<TransactionRecord>;
  nextMs?: number;
  nextPlan?: Plan;
  nextOffer?: Offer;
}

export function simulateSubscription(random: Random, subscribing: Subscribing): TransactionRecord[] {
  const { buyer, chainId, startMs, untilMs } = subscribing;
  const records: TransactionRecord[] = [];
  const paywall = random.pick(PAYWALLS);
  let plan = subscribing.plan;
  let offer: Offer | undefined;
  let beginMs: number | undefined = startMs;
  const add = (
    expiresMs: number,
    { usd, given }: { usd: number; given: Offer | undefined },
    members: Partial<TransactionRecord>,
  ) => {
    records.push({
      customer_user_id: buyer.customer_user_id,
      purchase_type: 'subscription',
      store: buyer.store.store,
      store_product_id: plan.id,
      store_transaction_id: `${chainId}.${records.length + 1}`,
      store_original_transaction_id: `${chainId}.1`,
      price: priceOf(usd, buyer.country, buyer.store),
      purchased_at: iso(beginMs ?? startMs),
      originally_purchased_at: iso(startMs),
      expires_at: iso(expiresMs),
      renew_status: true,
      paywall_id: paywall.paywall_id,
      placement_id: paywall.placement_id,
      variation_id: paywall.variation_id,
      ...(given && { offer: given }),
      ...members,
    });
  };

  if (random.chance(plan.trial)) {
    const endMs = startMs + TRIAL_DAYS * DAY_MS;
    const converts = random.chance(CONVERSION);
    const members = converts ? {} : cancelBetween(random, [startMs, endMs], untilMs);
    add(endMs, { usd: 0, given: { category: 'introductory', type: 'free_trial', id: null } }, members);
    beginMs = converts ? endMs : undefined;
  }
  while (beginMs !== undefined && beginMs < untilMs) {
    const endMs = endOfPeriod(beginMs, plan);
    const { members, nextMs, nextPlan, nextOffer } = endPeriod(random, { plan, beginMs, endMs, untilMs });
    add(endMs, { usd: offer ? plan.usd / 2 : plan.usd, given: offer }, members);
    plan = nextPlan ?? plan;
    offer = nextOffer;
    beginMs = nextMs;
  }
  return records;
}

interface Period {
  plan: Plan;
  beginMs: number;
  endMs: number;
  untilMs: number;
}

function endPeriod(random: Random, { plan, beginMs, endMs, untilMs }: Period): Ending {
  const refundMs = beginMs + random.between(0.1, 6) * DAY_MS;
  if (random.chance(REFUND) && refundMs < Math.min(endMs, untilMs)) {
    const at = iso(refundMs);
    return { members: { refunded_at: at, cancellation_reason: 'refund', ...notRenewing(at) } };
  }
  const upgradeMs = beginMs + random.between(0.3, 0.9) * (endMs - beginMs);
  if (plan.id === 'premium_monthly' && random.chance(UPGRADE) && upgradeMs < untilMs) {
    const members = { cancellation_reason: 'upgraded', ...notRenewing(iso(upgradeMs)) };
    return { members, nextMs: upgradeMs, nextPlan: PLANS[2] };
  }
  if (random.chance(BILLING_TROUBLE) && endMs < untilMs) return troubleAtEnd(random, endMs, untilMs);
  if (random.chance(plan.retention)) return { members: {}, nextMs: endMs };
  const members = cancelBetween(random, [beginMs, endMs], untilMs);
  if (!random.chance(RETURN)) return { members };
  const nextOffer: Offer = { category: 'win_back', type: 'pay_as_you_go', id: 'come_back' };
  return { members, nextMs: endMs + random.between(15, 120) * DAY_MS, nextOffer };
}

function troubleAtEnd(random: Random, endMs: number, untilMs: number): Ending {
  const graceMs = endMs + GRACE_MS;
  const grace = { billing_issue_detected_at: iso(endMs), grace_period_expires_at: iso(graceMs) };
  if (random.chance(RECOVERY)) return { members: grace, nextMs: endMs + random.between(1, 12) * DAY_MS };
  if (graceMs > untilMs) return { members: grace };
  return { members: { ...grace, cancellation_reason: 'billing_error', ...notRenewing(iso(graceMs)) } };
}

/** Renewal is switched off at some moment of the period; if that is still to come, nothing is known about it yet. */
function cancelBetween(
  random: Random,
  period: readonly [beginMs: number, endMs: number],
  untilMs: number,
): Partial<TransactionRecord> {
  const cancelMs = random.between(...period);
  if (cancelMs > untilMs) return {};
  const reason = random.chance(0.9) ? 'voluntarily_cancelled' : 'price_increase';
  return { cancellation_reason: reason, ...notRenewing(iso(cancelMs)) };
}

function notRenewing(at: string): Partial<TransactionRecord> {
  return { renew_status: false, renew_status_changed_at: at };
}

/** Returns the end of a period: for months, the same day of a later month, or that month's last. */
function endOfPeriod(beginMs: number, { months, days }: Plan): number {
  const end = new Date(beginMs + days * DAY_MS);
  const day = end.getUTCDate();
  end.setUTCMonth(end.getUTCMonth() + months);
  if (end.getUTCDate() !== day) end.setUTCDate(0);
  return end.getTime();
}
