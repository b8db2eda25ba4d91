// A transaction record as it came in → the columns of the purchase table, or what is wrong with it. Pure.
import type { FieldError } from '../errors.ts';
import { compileCheck } from '../http/ajv.ts';
import { parseDatetime, parseOptional } from '../lib/datetime.ts';
import { TransactionBody } from './schema.ts';

/** The given members of a transaction under the names of their columns; amounts are decimal texts. */
export interface TransactionRecord {
  store: string;
  store_original_transaction_id: string;
  store_transaction_id: string;
  purchase_type: TransactionBody['purchase_type'];
  environment: 'Production' | 'Sandbox';
  is_family_shared: boolean;
  store_product_id: string;
  store_base_plan_id: string | null;
  price_country: string;
  price_currency: string;
  price_value: string;
  price_value_usd: string | null;
  price_proceeds_usd: string | null;
  price_tax_usd: string | null;
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
  paywall_id: string | null;
  audience_id: string | null;
  placement_id: string | null;
  variation_id: string | null;
  refunded_at: string | null;
  cancellation_reason: string | null;
}

function decimal(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** Members that only a subscription has. */
const OF_SUBSCRIPTIONS = [
  'originally_purchased_at',
  'expires_at',
  'renew_status',
  'renew_status_changed_at',
  'billing_issue_detected_at',
  'grace_period_expires_at',
] as const;

/** Drops what means nothing for its type: a one-time purchase may carry members of a subscription. */
function dropMeaningless(body: TransactionBody): TransactionBody {
  if (body.purchase_type !== 'one_time_purchase') return body;
  return { ...body, ...Object.fromEntries(OF_SUBSCRIPTIONS.map((name) => [name, null])) };
}

/** Returns the record of a body that passed the schema and its rules. */
export function toRecord(given: TransactionBody): TransactionRecord {
  const body = dropMeaningless(given);
  const { price, offer } = body;
  return {
    store: body.store,
    store_original_transaction_id: body.store_original_transaction_id,
    store_transaction_id: body.store_transaction_id,
    purchase_type: body.purchase_type,
    environment: body.environment ?? 'Production',
    is_family_shared: body.is_family_shared ?? false,
    store_product_id: body.store_product_id,
    store_base_plan_id: body.store_base_plan_id || null,
    price_country: price.country.toUpperCase(),
    price_currency: price.currency,
    price_value: String(price.value),
    price_value_usd: decimal(price.value_usd),
    price_proceeds_usd: decimal(price.proceeds_usd),
    price_tax_usd: decimal(price.tax_usd),
    purchased_at: parseDatetime(body.purchased_at) as string,
    originally_purchased_at: parseOptional(body.originally_purchased_at),
    expires_at: parseOptional(body.expires_at),
    renew_status: body.renew_status ?? null,
    renew_status_changed_at: parseOptional(body.renew_status_changed_at),
    billing_issue_detected_at: parseOptional(body.billing_issue_detected_at),
    grace_period_expires_at: parseOptional(body.grace_period_expires_at),
    offer_category: offer?.category ?? null,
    offer_type: offer?.type ?? null,
    offer_id: offer?.id || null,
    paywall_id: body.paywall_id || null,
    audience_id: body.audience_id || null,
    placement_id: body.placement_id || null,
    variation_id: body.variation_id || null,
    refunded_at: parseOptional(body.refunded_at),
    cancellation_reason: body.cancellation_reason ?? null,
  };
}

const check = compileCheck(TransactionBody);

/** Reads a record of an import file, or reports all its faulty fields. */
export function parseTransaction(value: unknown): { record: TransactionRecord } | { errors: FieldError[] } {
  const errors = check(value);
  return errors.length > 0 ? { errors } : { record: toRecord(value as TransactionBody) };
}
