// The `access_level_updated` event of webhooks (decisions.md 7). It describes one source of an access level: a grant or
// a purchase. Pure.
import { timestampToWire, toWire } from '../lib/datetime.ts';
import { toUsd } from '../lib/money.ts';
import {
  type AccessSource,
  GRANT_AS_PURCHASE,
  isActive,
  isInGracePeriod,
  isRefunded,
  listAccess,
} from '../profile/access.ts';
import { revenueOf } from '../profile/object.ts';
import type { GrantState, ProfileState, PurchaseState } from '../profile/state.ts';
import { buildEvent, type WebhookEvent } from '../webhooks/events.ts';

function grantProperties(grant: GrantState) {
  return {
    is_lifetime: grant.expires_at === null,
    is_refund: false,
    is_in_grace_period: false,
    will_renew: false,
    activated_at: toWire(grant.first_granted_at),
    renewed_at: toWire(grant.granted_at),
    starts_at: toWire(grant.starts_at),
    expires_at: toWire(grant.expires_at),
    store: GRANT_AS_PURCHASE.store,
    vendor_product_id: GRANT_AS_PURCHASE.store_product_id,
    transaction_id: grant.grant_id,
    original_transaction_id: grant.grant_id,
    environment: GRANT_AS_PURCHASE.environment,
    cancellation_reason: null,
  };
}

function purchaseProperties(purchase: PurchaseState, until: string | null, now: string) {
  return {
    is_lifetime: until === null,
    is_refund: isRefunded(purchase, now),
    is_in_grace_period: isInGracePeriod(purchase, now),
    will_renew: purchase.renew_status === true,
    activated_at: toWire(purchase.originally_purchased_at ?? purchase.purchased_at),
    renewed_at: toWire(purchase.purchased_at),
    starts_at: null,
    expires_at: timestampToWire(until),
    store: purchase.store,
    vendor_product_id: purchase.store_product_id,
    transaction_id: purchase.store_transaction_id,
    original_transaction_id: purchase.store_original_transaction_id,
    environment: purchase.environment,
    cancellation_reason: purchase.cancellation_reason,
  };
}

/** Returns the properties about access and revenue that every event of a profile carries. */
export function profileTotals(state: ProfileState, now: string) {
  return {
    profile_has_access_level: listAccess(state, now).some((source) => isActive(source, now)),
    profile_total_revenue_usd: toUsd(revenueOf(state, now)),
  };
}

export interface AccessEventParts {
  event_id: string;
  /** When the event happened, as the database writes timestamps. */
  at: string;
  /** The moment (a timestamp) as of which the profile is described. */
  now: string;
  state: ProfileState;
  source: AccessSource;
  /** Whether the profile no longer has the source. */
  isGone?: boolean;
}

/** Builds `access_level_updated`. It describes the given source, which need not be the best source of the level. */
export function accessEvent({ event_id, at, now, state, source, isGone = false }: AccessEventParts): WebhookEvent {
  const { opened_by, access_level_id, until } = source;
  const properties = {
    access_level_id,
    is_active: !isGone && isActive(source, now),
    ...('grant' in opened_by ? grantProperties(opened_by.grant) : purchaseProperties(opened_by.purchase, until, now)),
    ...profileTotals(state, now),
  };
  return buildEvent({ event_id, event_type: 'access_level_updated', at, profile: state, properties });
}
