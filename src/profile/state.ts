// What is known about one profile at one moment, as the database returns it. Timestamps are the database's text.

/** Identifies a profile in the database. */
export interface ProfileKey {
  app_id: string;
  profile_id: string;
}

export interface AttributionState {
  status: string;
  attribution_user_id: string | null;
  channel: string | null;
  campaign: string | null;
  ad_group: string | null;
  ad_set: string | null;
  creative: string | null;
  source: string;
  recorded_at: string;
}

export interface GrantState {
  access_level_id: string;
  grant_id: string;
  starts_at: string | null;
  expires_at: string | null;
  granted_at: string;
  first_granted_at: string;
}

export interface PurchaseState {
  purchase_id: string;
  purchase_type: 'subscription' | 'one_time_purchase';
  environment: 'Production' | 'Sandbox';
  is_family_shared: boolean;
  store: string;
  store_product_id: string;
  store_base_plan_id: string | null;
  store_transaction_id: string;
  store_original_transaction_id: string;
  purchased_at: string;
  originally_purchased_at: string | null;
  expires_at: string | null;
  renew_status: boolean | null;
  renew_status_changed_at: string | null;
  billing_issue_detected_at: string | null;
  grace_period_expires_at: string | null;
  offer_category: string | null;
  offer_type: string | null;
  offer_id: string | null;
  refunded_at: string | null;
  cancellation_reason: string | null;
  /** 10^-9 USD, as text. */
  revenue_nano: string;
  /** The access level that the product opens, if the product is configured. */
  access_level_id: string | null;
  is_consumable: boolean;
}

export interface ProfileState {
  app_id: string;
  profile_id: string;
  customer_user_id: string | null;
  installed_at: string;
  country: string | null;
  custom_attributes: Record<string, string | number>;
  /** The database's clock when this was read. */
  read_at: string;
  attribution: AttributionState | null;
  grants: GrantState[];
  /** Oldest first. */
  purchases: PurchaseState[];
  /** The revenue of purchases that were left out; 10^-9 USD, as text. */
  past_revenue_nano: string;
}
