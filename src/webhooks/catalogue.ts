// The event types: what endpoints can subscribe to and the feed can be filtered by. Adding a type takes one entry here
// and a function that builds its properties.

export const EVENT_TYPES = {
  access_level_updated: 'An access level of the profile was granted or changed.',
  subscription_started: 'A subscription began with its first paid period, without a trial.',
  trial_started: 'A trial began.',
  trial_converted: 'A trial was followed by the first paid period.',
  subscription_renewed: 'A subscription was renewed for another paid period.',
  subscription_renewal_cancelled: 'A subscription or a trial will not renew.',
  subscription_expired: 'A subscription lapsed: its period ended or was refunded, and no other had begun.',
  trial_expired: 'A trial lapsed.',
  subscription_refunded: 'A period of a subscription was refunded.',
  entered_grace_period: 'A renewal could not be charged; access continues until the grace period ends.',
  billing_issue_detected: 'A renewal could not be charged.',
  non_subscription_purchase: 'A one-time purchase was made.',
  non_subscription_purchase_refunded: 'A one-time purchase was refunded.',
} as const satisfies Record<string, string>;

export type EventType = keyof typeof EVENT_TYPES;

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as EventType[];
