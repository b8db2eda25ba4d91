// The profile object (interface 2.2 to 2.5), in either shape: a dictionary, or the arrays of the sample response.
import { type TSchema, Type } from '@sinclair/typebox';
import { NullableString } from '../lib/typebox.ts';

const DatetimeOut = Type.String({
  description: 'ISO 8601 with microseconds and offset',
  examples: ['2025-01-15T10:30:00.000000+0000'],
});
const NullableDatetimeOut = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  examples: ['2025-01-15T10:30:00.000000+0000'],
});

function orNull(schema: TSchema): TSchema {
  return Type.Union([schema, Type.Null()]);
}

const Store = {
  store: Type.String(),
  store_product_id: Type.String(),
  store_base_plan_id: NullableString,
  store_transaction_id: Type.String(),
  store_original_transaction_id: Type.String(),
};

const AccessLevelObject = Type.Object(
  {
    access_level_id: Type.String(),
    ...Store,
    offer: orNull(Type.Object({ category: Type.String(), type: Type.String(), id: NullableString })),
    environment: Type.String(),
    starts_at: NullableDatetimeOut,
    purchased_at: DatetimeOut,
    originally_purchased_at: DatetimeOut,
    expires_at: NullableDatetimeOut,
    renewal_cancelled_at: NullableDatetimeOut,
    billing_issue_detected_at: NullableDatetimeOut,
    is_in_grace_period: Type.Boolean(),
    cancellation_reason: NullableString,
  },
  {
    title: 'AccessLevel',
    description:
      'Active while `starts_at` (or `purchased_at` if that is null) is not in the future and `expires_at` is null or in the future. Levels that have ended or begin later are listed, too.',
  },
);

const SubscriptionObject = Type.Object(
  {
    ...Store,
    offer: orNull(Type.Object({ offer_category: Type.String(), offer_type: Type.String(), offer_id: NullableString })),
    environment: Type.String(),
    purchased_at: DatetimeOut,
    originally_purchased_at: DatetimeOut,
    expires_at: DatetimeOut,
    renewal_cancelled_at: NullableDatetimeOut,
    billing_issue_detected_at: NullableDatetimeOut,
    is_in_grace_period: Type.Boolean(),
    cancellation_reason: NullableString,
  },
  { title: 'Subscription' },
);

const NonSubscriptionObject = Type.Object(
  {
    purchase_id: Type.String({ format: 'uuid' }),
    ...Store,
    purchased_at: DatetimeOut,
    environment: Type.String(),
    is_refund: Type.Boolean(),
    is_consumable: Type.Boolean(),
  },
  { title: 'NonSubscription' },
);

const AttributeValue = Type.Union([Type.String(), Type.Number()]);

const ProfileObject = Type.Object(
  {
    app_id: Type.String({ format: 'uuid', description: 'Internal ID of the app.' }),
    profile_id: Type.String({ format: 'uuid', description: 'Profile identifier.' }),
    customer_user_id: NullableString,
    total_revenue_usd: Type.Number({ description: 'Total revenue in USD earned in the profile.' }),
    segment_hash: Type.String({ description: 'Internal parameter: 16 hex digits.' }),
    timestamp: Type.Integer({ description: 'Response time in milliseconds, used to resolve race conditions.' }),
    custom_attributes: Type.Union([
      Type.Record(Type.String(), AttributeValue),
      Type.Array(Type.Object({ key: Type.String(), value: AttributeValue })),
    ]),
    access_levels: orNull(Type.Union([Type.Record(Type.String(), AccessLevelObject), Type.Array(AccessLevelObject)])),
    subscriptions: orNull(Type.Union([Type.Record(Type.String(), SubscriptionObject), Type.Array(SubscriptionObject)])),
    non_subscriptions: orNull(
      Type.Union([Type.Record(Type.String(), Type.Array(NonSubscriptionObject)), Type.Array(NonSubscriptionObject)]),
    ),
  },
  { title: 'Profile' },
);

const EXAMPLE = {
  app_id: '1f0d7a52-6c1e-4f0b-9d6a-0f6c0a8f6b11',
  profile_id: '6b1f2c9e-3a54-4c8e-8f0e-2d9b7c1a5e42',
  customer_user_id: 'user-1',
  total_revenue_usd: 9.99,
  segment_hash: 'aad3dc3958efc072',
  timestamp: 1768473000000,
  custom_attributes: { plan: 'gold', rating: 4.5 },
  access_levels: {
    premium: {
      access_level_id: 'premium',
      store: 'service',
      store_product_id: 'server_side_grant',
      store_base_plan_id: null,
      store_transaction_id: '0c4de5a1-7b7e-4c58-a3f5-9b1d6f2e8c70',
      store_original_transaction_id: '0c4de5a1-7b7e-4c58-a3f5-9b1d6f2e8c70',
      offer: null,
      environment: 'Production',
      starts_at: null,
      purchased_at: '2026-01-15T10:30:00.000000+0000',
      originally_purchased_at: '2026-01-15T10:30:00.000000+0000',
      expires_at: '2100-01-01T00:00:00.000000+0000',
      renewal_cancelled_at: null,
      billing_issue_detected_at: null,
      is_in_grace_period: false,
      cancellation_reason: null,
    },
  },
  subscriptions: {
    'com.example.monthly': {
      store: 'app_store',
      store_product_id: 'com.example.monthly',
      store_base_plan_id: null,
      store_transaction_id: '2000000712345678',
      store_original_transaction_id: '2000000712345678',
      offer: null,
      environment: 'Production',
      purchased_at: '2026-01-01T08:00:00.000000+0000',
      originally_purchased_at: '2026-01-01T08:00:00.000000+0000',
      expires_at: '2026-02-01T08:00:00.000000+0000',
      renewal_cancelled_at: null,
      billing_issue_detected_at: null,
      is_in_grace_period: false,
      cancellation_reason: null,
    },
  },
  non_subscriptions: null,
};

/** The response body of server-side operations. */
export const ProfileResponse = Type.Object({ data: ProfileObject }, { examples: [{ data: EXAMPLE }] });
