// Schemas of event payloads (decisions.md 7), for the API reference and for the tests, which check every delivered
// event against them.
import { type SchemaOptions, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { NullableString, OneOf } from '../lib/typebox.ts';
import type { EventType } from './catalogue.ts';
import { EVENT_API_VERSION } from './events.ts';

const Moment = Type.String({ examples: ['2025-01-15T10:30:00.000000+0000'] });
const NullableMoment = Type.Unsafe<string | null>({ type: ['string', 'null'] });

const Totals = {
  profile_has_access_level: Type.Boolean({ description: 'Whether any access level of the profile is active.' }),
  profile_total_revenue_usd: Type.Number(),
};

const AccessLevelProperties = {
  access_level_id: Type.String(),
  is_active: Type.Boolean(),
  is_lifetime: Type.Boolean(),
  is_refund: Type.Boolean(),
  is_in_grace_period: Type.Boolean(),
  will_renew: Type.Boolean(),
  activated_at: Moment,
  renewed_at: Moment,
  starts_at: NullableMoment,
  expires_at: NullableMoment,
  store: Type.String(),
  vendor_product_id: Type.String(),
  transaction_id: Type.String(),
  original_transaction_id: Type.String(),
  environment: Type.String(),
  cancellation_reason: NullableString,
  ...Totals,
};

const TransactionProperties = {
  store: Type.String(),
  environment: Type.String(),
  vendor_product_id: Type.String(),
  base_plan_id: NullableString,
  transaction_id: Type.String(),
  original_transaction_id: Type.String(),
  period: Type.String({ description: 'trial, activation, renewal_1 … renewal_5, renewal_6_plus or one_time.' }),
  is_family_shared: Type.Boolean(),
  purchased_at: Moment,
  originally_purchased_at: Moment,
  expires_at: NullableMoment,
  will_renew: Type.Boolean(),
  renew_status_changed_at: NullableMoment,
  billing_issue_detected_at: NullableMoment,
  grace_period_expires_at: NullableMoment,
  refunded_at: NullableMoment,
  cancellation_reason: NullableString,
  offer_category: NullableString,
  offer_type: NullableString,
  offer_id: NullableString,
  paywall_id: NullableString,
  audience_id: NullableString,
  placement_id: NullableString,
  variation_id: NullableString,
  store_country: Type.String(),
  currency: Type.String(),
  price_local: Type.Number(),
  price_usd: Type.Number(),
  proceeds_usd: Type.Number(),
  net_revenue_usd: Type.Number(),
  ...Totals,
};

const Attribution = Type.Object({
  status: Type.String(),
  channel: NullableString,
  campaign: NullableString,
  ad_group: NullableString,
  ad_set: NullableString,
  creative: NullableString,
  network_user_id: NullableString,
  created_at: Moment,
});

/** An example of the event that a grant causes. */
export const GRANT_EXAMPLE = {
  event_type: 'access_level_updated',
  event_datetime: '2026-01-15T10:30:00.000000+0000',
  event_api_version: EVENT_API_VERSION,
  profile_id: '6b1f2c9e-3a54-4c8e-8f0e-2d9b7c1a5e42',
  customer_user_id: 'user-1',
  profile_install_datetime: '2025-01-01T00:00:00.000000+0000',
  event_properties: {
    profile_event_id: '02fdea5b-850e-4497-9f85-54f7dfff037c',
    access_level_id: 'premium',
    is_active: true,
    is_lifetime: false,
    is_refund: false,
    is_in_grace_period: false,
    will_renew: false,
    activated_at: '2026-01-15T10:30:00.000000+0000',
    renewed_at: '2026-01-15T10:30:00.000000+0000',
    starts_at: null,
    expires_at: '2100-01-01T00:00:00.000000+0000',
    store: 'service',
    vendor_product_id: 'server_side_grant',
    transaction_id: '0c4de5a1-7b7e-4c58-a3f5-9b1d6f2e8c70',
    original_transaction_id: '0c4de5a1-7b7e-4c58-a3f5-9b1d6f2e8c70',
    environment: 'Production',
    cancellation_reason: null,
    profile_has_access_level: true,
    profile_total_revenue_usd: 9.99,
  },
  attributions: {},
  user_attributes: { plan: 'gold', rating: 4.5 },
};

/** Returns the name that generated clients use, such as AccessLevelUpdatedEvent. */
function titleOf(eventType: EventType): string {
  const words = eventType.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

function payloadOf(eventType: EventType, properties: TProperties, options?: SchemaOptions): TSchema {
  const payload = {
    event_type: OneOf([eventType]),
    event_datetime: Moment,
    event_api_version: Type.Literal(EVENT_API_VERSION),
    profile_id: Type.String({ format: 'uuid' }),
    customer_user_id: NullableString,
    profile_install_datetime: Moment,
    event_properties: Type.Object({
      profile_event_id: Type.String({
        format: 'uuid',
        description: 'Identifies the event, so that repeated deliveries can be recognised.',
      }),
      ...properties,
    }),
    attributions: Type.Object({ custom: Type.Optional(Attribution) }),
    user_attributes: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
  };
  return Type.Object(payload, { title: titleOf(eventType), ...options });
}

/** Returns the payload schema of an event type. */
export function eventPayload(eventType: EventType): TSchema {
  if (eventType !== 'access_level_updated') return payloadOf(eventType, TransactionProperties);
  return payloadOf(eventType, AccessLevelProperties, { examples: [GRANT_EXAMPLE] });
}

/** The event with which a webhook is tested; it concerns no profile. */
export const TestEvent = Type.Object({
  event_type: OneOf(['test']),
  event_datetime: Moment,
  event_api_version: Type.Literal(EVENT_API_VERSION),
  event_properties: Type.Object({
    profile_event_id: Type.String({ format: 'uuid' }),
    webhook_id: Type.String({ format: 'uuid', description: 'The webhook being tested.' }),
  }),
});
