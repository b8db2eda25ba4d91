// The profile object (interface 2.2 to 2.5): rows → wire. Pure. Its members are in the order of the interface.
import { hash } from 'node:crypto';
import type { App } from '../deps.ts';
import { fromDatabase, timestampToWire, toWire } from '../lib/datetime.ts';
import { toUsd } from '../lib/money.ts';
import { type AccessSource, GRANT_AS_PURCHASE, isInGracePeriod, isRefunded, listAccess } from './access.ts';
import type { GrantState, ProfileState, PurchaseState } from './state.ts';

/**
 * Returns the revenue in 10^-9 USD: production purchases minus refunds, each once it has happened. Family-shared copies
 * do not count.
 */
export function revenueOf({ purchases, past_revenue_nano }: ProfileState, now: string): bigint {
  const counted = purchases.filter(
    (one) =>
      one.environment === 'Production' &&
      !one.is_family_shared &&
      fromDatabase(one.purchased_at) <= now &&
      !isRefunded(one, now),
  );
  return counted.reduce((sum, { revenue_nano }) => sum + BigInt(revenue_nano), BigInt(past_revenue_nano));
}

function grantedLevel(grant: GrantState) {
  return {
    access_level_id: grant.access_level_id,
    store: GRANT_AS_PURCHASE.store,
    store_product_id: GRANT_AS_PURCHASE.store_product_id,
    store_base_plan_id: null,
    store_transaction_id: grant.grant_id,
    store_original_transaction_id: grant.grant_id,
    offer: null,
    environment: GRANT_AS_PURCHASE.environment,
    starts_at: toWire(grant.starts_at),
    purchased_at: toWire(grant.granted_at),
    originally_purchased_at: toWire(grant.first_granted_at),
    expires_at: toWire(grant.expires_at),
    renewal_cancelled_at: null,
    billing_issue_detected_at: null,
    is_in_grace_period: false,
    cancellation_reason: null,
  };
}

function renewalCancelledAt({ renew_status, renew_status_changed_at }: PurchaseState): string | null {
  return renew_status === false ? toWire(renew_status_changed_at) : null;
}

function boughtLevel(source: AccessSource, purchase: PurchaseState, now: string) {
  const { offer_category: category, offer_type: type, offer_id: id } = purchase;
  return {
    access_level_id: source.access_level_id,
    store: purchase.store,
    store_product_id: purchase.store_product_id,
    store_base_plan_id: purchase.store_base_plan_id,
    store_transaction_id: purchase.store_transaction_id,
    store_original_transaction_id: purchase.store_original_transaction_id,
    offer: category === null ? null : { category, type, id },
    environment: purchase.environment,
    starts_at: null,
    purchased_at: toWire(purchase.purchased_at),
    originally_purchased_at: toWire(purchase.originally_purchased_at ?? purchase.purchased_at),
    expires_at: timestampToWire(source.until),
    renewal_cancelled_at: renewalCancelledAt(purchase),
    billing_issue_detected_at: toWire(purchase.billing_issue_detected_at),
    is_in_grace_period: isInGracePeriod(purchase, now),
    cancellation_reason: purchase.cancellation_reason,
  };
}

/** Renders an access level object from the source that serves the level. */
export function renderSource(source: AccessSource, now: string) {
  const { opened_by } = source;
  return 'grant' in opened_by ? grantedLevel(opened_by.grant) : boughtLevel(source, opened_by.purchase, now);
}

function subscription(purchase: PurchaseState, now: string) {
  const { offer_category, offer_type, offer_id } = purchase;
  return {
    store: purchase.store,
    store_product_id: purchase.store_product_id,
    store_base_plan_id: purchase.store_base_plan_id,
    store_transaction_id: purchase.store_transaction_id,
    store_original_transaction_id: purchase.store_original_transaction_id,
    offer: offer_category === null ? null : { offer_category, offer_type, offer_id },
    environment: purchase.environment,
    purchased_at: toWire(purchase.purchased_at),
    originally_purchased_at: toWire(purchase.originally_purchased_at),
    expires_at: toWire(purchase.expires_at),
    renewal_cancelled_at: renewalCancelledAt(purchase),
    billing_issue_detected_at: toWire(purchase.billing_issue_detected_at),
    is_in_grace_period: isInGracePeriod(purchase, now),
    cancellation_reason: purchase.cancellation_reason,
  };
}

function nonSubscription(purchase: PurchaseState, now: string) {
  return {
    purchase_id: purchase.purchase_id,
    store: purchase.store,
    store_product_id: purchase.store_product_id,
    store_base_plan_id: purchase.store_base_plan_id,
    store_transaction_id: purchase.store_transaction_id,
    store_original_transaction_id: purchase.store_original_transaction_id,
    purchased_at: toWire(purchase.purchased_at),
    environment: purchase.environment,
    is_refund: isRefunded(purchase, now),
    is_consumable: purchase.is_consumable,
  };
}

/** Returns 16 hex digits that change when the data behind segments changes (decisions.md 6). */
function segmentHash({ custom_attributes, attribution, country }: ProfileState): string {
  const { recorded_at: _, ...label } = attribution ?? { recorded_at: '' };
  const made = JSON.stringify([Object.entries(custom_attributes).sort(), Object.entries(label), country]);
  return hash('sha256', made).slice(0, 16);
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Returns the last purchase of each product, oldest first. */
function lastPerProduct(purchases: readonly PurchaseState[]): PurchaseState[] {
  const last = new Map<string, PurchaseState>();
  for (const purchase of purchases) {
    last.delete(purchase.store_product_id);
    last.set(purchase.store_product_id, purchase);
  }
  return [...last.values()];
}

function dictionaryOrNull<T>(entries: readonly (readonly [string, T])[]): Record<string, T> | null {
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Renders the profile as operations return it, in the shape that its app has chosen. */
export function renderProfile(state: ProfileState, { profile_shape }: Pick<App, 'profile_shape'>) {
  const now = fromDatabase(state.read_at);
  const levels = listAccess(state, now).map((source) => renderSource(source, now));
  const ofType = (type: PurchaseState['purchase_type']) => state.purchases.filter((one) => one.purchase_type === type);
  const subscriptions = lastPerProduct(ofType('subscription')).map((purchase) => subscription(purchase, now));
  const nonSubscriptions = ofType('one_time_purchase').map((purchase) => nonSubscription(purchase, now));
  const isArray = profile_shape === 'array';
  return {
    app_id: state.app_id,
    profile_id: state.profile_id,
    customer_user_id: state.customer_user_id,
    total_revenue_usd: toUsd(revenueOf(state, now)),
    segment_hash: segmentHash(state),
    timestamp: Date.parse(`${now.slice(0, 23)}Z`),
    custom_attributes: isArray
      ? Object.entries(state.custom_attributes).map(([key, value]) => ({ key, value }))
      : state.custom_attributes,
    access_levels: isArray ? levels : dictionaryOrNull(levels.map((level) => [level.access_level_id, level])),
    subscriptions: isArray ? subscriptions : dictionaryOrNull(subscriptions.map((one) => [one.store_product_id, one])),
    non_subscriptions: isArray
      ? nonSubscriptions
      : dictionaryOrNull([...groupBy(nonSubscriptions, ({ store_product_id }) => store_product_id)]),
  };
}
