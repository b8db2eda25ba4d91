// The types of events as data: what an endpoint may ask for, what the feed may be filtered by. Adding a type is one entry here
// and the function that builds its properties.

export const EVENT_TYPES = {
  access_level_updated: 'An access level of the profile was granted or changed.',
} as const satisfies Record<string, string>;

export type EventType = keyof typeof EVENT_TYPES;

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as EventType[];
