// Builds event payloads (decisions.md 7). Pure: rows in, the body of the delivery out. Timestamps come as database
// text.
import { toWire } from '../lib/datetime.ts';
import type { EventType } from './catalogue.ts';

export const EVENT_API_VERSION = 1;

/** What every event says about its profile. A profile's state has these members. */
export interface EventProfile {
  app_id: string;
  profile_id: string;
  customer_user_id: string | null;
  installed_at: string;
  attribution: {
    status: string;
    attribution_user_id: string | null;
    channel: string | null;
    campaign: string | null;
    ad_group: string | null;
    ad_set: string | null;
    creative: string | null;
    recorded_at: string;
  } | null;
  custom_attributes: Record<string, string | number>;
}

/** An event as it is stored. The payload is what webhooks deliver and the feed shows. */
export interface WebhookEvent {
  event_id: string;
  app_id: string;
  event_type: EventType;
  profile_id: string;
  customer_user_id: string | null;
  payload: object;
}

/** What all events of the catalogue have in common; `properties` depend on the type. */
export interface EventParts {
  event_id: string;
  event_type: EventType;
  /** When the event happened. */
  at: string;
  profile: EventProfile;
  properties: object;
}

function attributionsOf({ attribution }: EventProfile): object {
  if (!attribution) return {};
  const { attribution_user_id, recorded_at, status, channel, campaign, ad_group, ad_set, creative } = attribution;
  return {
    custom: {
      status,
      channel,
      campaign,
      ad_group,
      ad_set,
      creative,
      network_user_id: attribution_user_id,
      created_at: toWire(recorded_at),
    },
  };
}

/** Builds an event of any type around its properties. */
export function buildEvent({ event_id, event_type, at, profile, properties }: EventParts): WebhookEvent {
  const { app_id, profile_id, customer_user_id } = profile;
  const payload = {
    event_type,
    event_datetime: toWire(at),
    event_api_version: EVENT_API_VERSION,
    profile_id,
    customer_user_id,
    profile_install_datetime: toWire(profile.installed_at),
    event_properties: { profile_event_id: event_id, ...properties },
    attributions: attributionsOf(profile),
    user_attributes: profile.custom_attributes,
  };
  return { event_id, app_id, event_type, profile_id, customer_user_id, payload };
}
