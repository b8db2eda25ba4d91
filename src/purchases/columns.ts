// The columns of a staged transaction, in the order in which they are copied: owner, record, amounts.
import type { CopyColumn } from '../db/copy.ts';
import type { CopyType } from '../db/copy-row.ts';
import type { Amounts } from './pricing.ts';
import type { TransactionRecord } from './record.ts';

/** A transaction ready to be written; `position` tells rows of one batch apart and orders them. */
export type StagedTransaction = TransactionRecord & Amounts & { position: number; profile_id: string };

const TYPES: Record<keyof TransactionRecord, CopyType> = {
  store: 'text',
  store_original_transaction_id: 'text',
  store_transaction_id: 'text',
  purchase_type: 'text',
  environment: 'text',
  is_family_shared: 'boolean',
  store_product_id: 'text',
  store_base_plan_id: 'text',
  price_country: 'text',
  price_currency: 'text',
  price_value: 'numeric',
  price_value_usd: 'numeric',
  price_proceeds_usd: 'numeric',
  price_tax_usd: 'numeric',
  purchased_at: 'timestamptz',
  originally_purchased_at: 'timestamptz',
  expires_at: 'timestamptz',
  renew_status: 'boolean',
  renew_status_changed_at: 'timestamptz',
  billing_issue_detected_at: 'timestamptz',
  grace_period_expires_at: 'timestamptz',
  offer_category: 'text',
  offer_type: 'text',
  offer_id: 'text',
  paywall_id: 'text',
  audience_id: 'text',
  placement_id: 'text',
  variation_id: 'text',
  refunded_at: 'timestamptz',
  cancellation_reason: 'text',
};

/** The columns of the record itself, which are compared to tell whether a transaction changed. */
export const RECORD_COLUMNS = Object.keys(TYPES) as (keyof TransactionRecord)[];

export const AMOUNT_COLUMNS = ['revenue_nano', 'proceeds_nano', 'net_nano'] as const satisfies (keyof Amounts)[];

/** The columns of the record and its amounts, with their types. */
export const PURCHASE_COLUMNS = [
  ...RECORD_COLUMNS.map((name) => [name, TYPES[name]] as const),
  ...AMOUNT_COLUMNS.map((name) => [name, 'bigint'] as const),
] as const satisfies CopyColumn[];

/** Every column of a staged transaction with its type, for `create temp table` and `jsonb_to_recordset`. */
export const STAGED_COLUMNS = [
  ['position', 'bigint'],
  ['profile_id', 'uuid'],
  ...PURCHASE_COLUMNS,
] as const satisfies CopyColumn[];
