// Profile states for tests of what is computed from them.
import type { PurchaseState } from '../../src/profile/state.ts';

/** Returns a period of a subscription that gives premium during January 2025, with these values instead. */
export function purchase(values: Partial<PurchaseState>): PurchaseState {
  return {
    purchase_id: '00000000-0000-0000-0000-000000000000',
    purchase_type: 'subscription',
    environment: 'Production',
    is_family_shared: false,
    store: 'app_store',
    store_product_id: 'monthly',
    store_base_plan_id: null,
    store_transaction_id: 't1',
    store_original_transaction_id: 't1',
    purchased_at: '2025-01-01 00:00:00+00',
    originally_purchased_at: '2025-01-01 00:00:00+00',
    expires_at: '2025-02-01 00:00:00+00',
    renew_status: true,
    renew_status_changed_at: null,
    billing_issue_detected_at: null,
    grace_period_expires_at: null,
    offer_category: null,
    offer_type: null,
    offer_id: null,
    refunded_at: null,
    cancellation_reason: null,
    revenue_nano: '0',
    access_level_id: 'premium',
    is_consumable: false,
    ...values,
  };
}
