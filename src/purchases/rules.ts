// The rules between the members of a transaction record (analytics.md 1), each with its own message. Pure.
import type { FieldError } from '../errors.ts';
import { OFFER_CATEGORIES } from '../facts/values.ts';
import { momentOf } from '../http/order-rule.ts';

type Body = Record<string, unknown>;

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function wrong(source: string, message: string): FieldError {
  return { source, code: 'value_error', message };
}

function missing(source: string, when: string): FieldError {
  return { source, code: 'missing', message: `The field ${source} is required ${when}.` };
}

function missingOfSubscription(body: Body): FieldError[] {
  if (body.purchase_type !== 'subscription') return [];
  return ['originally_purchased_at', 'expires_at', 'renew_status']
    .filter((name) => !isGiven(body[name]))
    .map((source) => missing(source, 'for a subscription'));
}

function ownChain(body: Body): FieldError[] {
  const { purchase_type, store_transaction_id, store_original_transaction_id } = body;
  // Values that are missing or not text have errors of their own.
  const areTexts = typeof store_transaction_id === 'string' && typeof store_original_transaction_id === 'string';
  if (purchase_type !== 'one_time_purchase' || !areTexts) return [];
  if (store_transaction_id === store_original_transaction_id) return [];
  return [wrong('store_original_transaction_id', 'For a one-time purchase, it must equal store_transaction_id.')];
}

/** [earlier, later, may they be equal] */
const ORDER: readonly (readonly [string, string, boolean])[] = [
  ['originally_purchased_at', 'purchased_at', true],
  ['purchased_at', 'expires_at', false],
  ['purchased_at', 'renew_status_changed_at', true],
  ['purchased_at', 'billing_issue_detected_at', true],
  ['expires_at', 'grace_period_expires_at', false],
  ['purchased_at', 'grace_period_expires_at', true],
  ['purchased_at', 'refunded_at', true],
];

function datesInOrder(body: Body): FieldError[] {
  const errors: FieldError[] = [];
  for (const [earlier, later, mayBeEqual] of ORDER) {
    // The later one first: most records have few of them.
    const to = momentOf(body, later);
    const from = to === undefined ? undefined : momentOf(body, earlier);
    if (from === undefined || to === undefined || from < to || (mayBeEqual && from === to)) continue;
    if (earlier === 'originally_purchased_at') errors.push(wrong(earlier, `Must not be after ${later}.`));
    else errors.push(wrong(later, mayBeEqual ? `Must not be before ${earlier}.` : `Must be after ${earlier}.`));
  }
  return errors;
}

function graceNeedsIssue(body: Body): FieldError[] {
  if (!isGiven(body.grace_period_expires_at) || isGiven(body.billing_issue_detected_at)) return [];
  return [wrong('grace_period_expires_at', 'A grace period requires billing_issue_detected_at.')];
}

function refundHasReason(body: Body): FieldError[] {
  const isRefunded = isGiven(body.refunded_at);
  const saysRefund = body.cancellation_reason === 'refund';
  if (isRefunded && !saysRefund) return [wrong('cancellation_reason', 'Must be refund when refunded_at is given.')];
  if (!isRefunded && saysRefund) return [wrong('refunded_at', 'Is required when cancellation_reason is refund.')];
  return [];
}

function offerFits(body: Body): FieldError[] {
  const offer = body.offer as Body | null | undefined;
  const price = body.price as Body | null | undefined;
  if (typeof offer !== 'object' || offer === null) return [];
  const isKnown = (OFFER_CATEGORIES as readonly unknown[]).includes(offer.category);
  const needsId = isKnown && offer.category !== 'introductory' && !offer.id;
  const isPaid = typeof price === 'object' && price !== null && (price.value || price.value_usd);
  return [
    ...(offer.type === 'free_trial' && isPaid ? [wrong('offer.type', 'A free_trial must have the price 0.')] : []),
    ...(needsId ? [missing('offer.id', 'unless the category is introductory')] : []),
  ];
}

function priceParts(body: Body): FieldError[] {
  const price = body.price as Body | null | undefined;
  if (typeof price !== 'object' || price === null) return [];
  const { value, value_usd, proceeds_usd, tax_usd, currency } = price;
  const revenue = value_usd ?? (currency === 'USD' ? value : undefined);
  const isMore = (one: unknown, other: unknown) => typeof one === 'number' && typeof other === 'number' && one > other;
  return [
    ...(isMore(proceeds_usd, revenue) ? [wrong('price.proceeds_usd', 'Must not be more than the price in USD.')] : []),
    ...(isMore(tax_usd, proceeds_usd ?? revenue)
      ? [wrong('price.tax_usd', 'Must not be more than the proceeds.')]
      : []),
  ];
}

const RULES = [missingOfSubscription, ownChain, datesInOrder, graceNeedsIssue, refundHasReason, offerFits, priceParts];

export function transactionRules(body: Body): FieldError[] {
  const errors: FieldError[] = [];
  for (const rule of RULES) for (const error of rule(body)) errors.push(error);
  return errors;
}
