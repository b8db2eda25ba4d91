// The records of an import file, as the simulation writes them (analytics.md 1). Pure.
import type { Country, Store } from './market.ts';

export interface ProfileRecord {
  customer_user_id: string;
  installed_at: string;
  country: string;
  store: string;
  custom_attributes: Record<string, string | number>;
  attribution?: Record<string, string | null>;
}

export interface Offer {
  category: string;
  type: string;
  id: string | null;
}

export interface Price {
  country: string;
  currency: string;
  value: number;
  value_usd: number;
  proceeds_usd: number;
  tax_usd: number;
}

export interface TransactionRecord {
  customer_user_id: string;
  purchase_type: 'subscription' | 'one_time_purchase';
  environment?: 'Sandbox';
  store: string;
  store_product_id: string;
  store_transaction_id: string;
  store_original_transaction_id: string;
  is_family_shared?: boolean;
  price: Price;
  purchased_at: string;
  originally_purchased_at?: string;
  expires_at?: string;
  renew_status?: boolean;
  renew_status_changed_at?: string;
  billing_issue_detected_at?: string;
  grace_period_expires_at?: string;
  offer?: Offer;
  paywall_id?: string;
  placement_id?: string;
  variation_id?: string | null;
  refunded_at?: string;
  cancellation_reason?: string;
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns what something of this USD price costs in the country, and what is left of it after commission. */
export function priceOf(
  usd: number,
  { country, currency, perUsd, decimals, level, tax }: Country,
  store: Store,
): Price {
  const value = round(usd * level * perUsd, decimals);
  const value_usd = round(value / perUsd, 6);
  const proceeds_usd = round(value_usd * (1 - store.commission), 6);
  return { country, currency, value, value_usd, proceeds_usd, tax_usd: round(proceeds_usd * tax, 6) };
}

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
