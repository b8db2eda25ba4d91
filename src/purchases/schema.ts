// The transaction record (analytics.md 1): the same members wherever a transaction enters.
import { type Static, Type } from '@sinclair/typebox';
import { CANCELLATION_REASONS } from '../facts/codes.ts';
import { OFFER_CATEGORIES, OFFER_TYPES, STORE_LENGTH } from '../facts/values.ts';
import { Datetime, NullableDatetime, NullableOneOf, NullableText, OneOf, Text } from '../lib/typebox.ts';
import { transactionRules } from './rules.ts';

const PURCHASE_TYPES = ['subscription', 'one_time_purchase'] as const;
const ENVIRONMENTS = ['Production', 'Sandbox'] as const;
const ID_LENGTH = 255;
const MAX_USD = 1_000_000_000;
const MAX_UNITS = 1_000_000_000_000;

const NullableBoolean = (description: string) =>
  Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description }));

function Usd(description: string) {
  return Type.Optional(
    Type.Unsafe<number | null>({
      type: ['number', 'null'],
      minimum: 0,
      maximum: MAX_USD,
      maxDecimals: 6,
      description,
    }),
  );
}

const Id = (description: string) => Text(ID_LENGTH, { minLength: 1, description });
const NullableId = (description: string) => Type.Optional(NullableText(ID_LENGTH, { description }));
const Moment = (description: string) => Type.Optional(NullableDatetime({ description }));

const Price = Type.Object({
  country: Type.String({ pattern: '^[A-Za-z]{2}$', description: 'Must be a 2-letter country code.' }),
  currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'Must be an ISO 4217 currency code, such as USD.' }),
  value: Type.Unsafe<number>({
    type: 'number',
    minimum: 0,
    maximum: MAX_UNITS,
    maxDecimals: 6,
    description: `In units of the currency; worth at most ${MAX_USD} USD.`,
  }),
  value_usd: Usd('The price in USD, which overrides value; required unless the currency is USD or has a known rate.'),
  proceeds_usd: Usd('What the store pays out, at most the price.'),
  tax_usd: Usd('Tax included in the proceeds.'),
});

const Offer = Type.Object({
  category: OneOf(OFFER_CATEGORIES),
  type: OneOf(OFFER_TYPES, { description: 'A free_trial has the price 0.' }),
  id: NullableId('Required unless the category is introductory.'),
});

export const TransactionBody = Type.Object(
  {
    purchase_type: OneOf(PURCHASE_TYPES),
    store: Text(STORE_LENGTH, { minLength: 1, description: 'app_store, play_store, stripe or a custom store id.' }),
    environment: Type.Optional(NullableOneOf(ENVIRONMENTS, { description: 'Defaults to Production.' })),
    store_product_id: Id('Product identifier in the store.'),
    store_base_plan_id: NullableId('Base plan of the product, in stores that have them.'),
    store_transaction_id: Id('Unique in its chain; sending the same id again replaces that transaction as a whole.'),
    store_original_transaction_id: Id('The chain that it belongs to; a one-time purchase repeats its own id.'),
    is_family_shared: NullableBoolean('Whether it came through family sharing.'),
    price: Price,
    purchased_at: Datetime({ description: 'When the period begins or the purchase was made.' }),
    originally_purchased_at: Moment('When the chain began, not after purchased_at; required for a subscription.'),
    expires_at: Moment('When the period ends, after purchased_at; required for a subscription.'),
    renew_status: NullableBoolean('Whether it will renew; required for a subscription.'),
    renew_status_changed_at: Moment('When renew_status last changed; not before purchased_at.'),
    billing_issue_detected_at: Moment('When a renewal could not be charged; not before purchased_at.'),
    grace_period_expires_at: Moment(
      'When the store stops retrying and access ends; after expires_at, and only with billing_issue_detected_at.',
    ),
    offer: Type.Optional(Type.Unsafe<Static<typeof Offer> | null>({ ...Offer, type: ['object', 'null'] })),
    paywall_id: NullableId('Paywall on which it was bought.'),
    audience_id: NullableId('Audience to which the paywall was shown.'),
    placement_id: NullableId('Placement at which the paywall was shown.'),
    variation_id: NullableId('Variation of the paywall.'),
    refunded_at: Moment(
      'When the whole price was refunded; not before purchased_at, and only with the cancellation_reason refund.',
    ),
    cancellation_reason: Type.Optional(
      NullableOneOf(CANCELLATION_REASONS, { description: 'Why it will not renew; refund only with refunded_at.' }),
    ),
  },
  {
    rules: transactionRules,
    examples: [
      {
        purchase_type: 'subscription',
        store: 'app_store',
        store_product_id: 'monthly',
        store_transaction_id: '1001',
        store_original_transaction_id: '1000',
        price: { country: 'DE', currency: 'EUR', value: 9.99, value_usd: 10.49 },
        purchased_at: '2026-01-09T08:05:00Z',
        originally_purchased_at: '2026-01-02T08:05:00Z',
        expires_at: '2026-02-09T08:05:00Z',
        renew_status: true,
      },
    ],
  },
);

export type TransactionBody = Static<typeof TransactionBody>;
