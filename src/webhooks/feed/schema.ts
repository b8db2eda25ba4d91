// The query and the response of the event feed (decisions.md 7).
import { type Static, Type } from '@sinclair/typebox';
import { mustFollow } from '../../http/order-rule.ts';
import { Datetime, OneOf, Text } from '../../lib/typebox.ts';
import { UUID_FORM } from '../../lib/uuid.ts';
import { EVENT_TYPE_NAMES } from '../catalogue.ts';
import { DELIVERY_STATES } from '../queue.ts';
import { eventPayload, GRANT_EXAMPLE } from '../schema.ts';

/** Events per page by default. */
export const DEFAULT_LIMIT = 50;

// Query parameters are text, so `limit` is a string with a pattern.
export const EventsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9]\\d?|1\\d\\d|200)$',
        description: 'Must be a whole number from 1 to 200.',
        published: { type: 'integer', minimum: 1, maximum: 200, default: DEFAULT_LIMIT },
      }),
    ),
    cursor: Type.Optional(Text(200, { description: 'The next_cursor of the previous page.' })),
    event_type: Type.Optional(OneOf(EVENT_TYPE_NAMES)),
    profile_id: Type.Optional(
      Type.String({
        pattern: `^(?:${UUID_FORM})?$`,
        description: 'Must be a UUID.',
      }),
    ),
    customer_user_id: Type.Optional(Text(255)),
    since: Type.Optional(Datetime({ description: 'Only events created at this time or later.' })),
    until: Type.Optional(Datetime({ description: 'Only events created before this time; must be after since.' })),
  },
  { additionalProperties: false, rules: mustFollow('until', 'since') },
);

export type EventsQuery = Static<typeof EventsQuery>;

const Delivery = Type.Object({
  webhook_id: Type.String(),
  state: OneOf(DELIVERY_STATES),
  attempts: Type.Integer(),
  last_status: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
  next_attempt_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      'The earliest time of the next attempt. Null once the delivery is delivered or dead, and while its webhook is suspended or disabled.',
  }),
});

const EXAMPLE = {
  event_id: GRANT_EXAMPLE.event_properties.profile_event_id,
  event_type: GRANT_EXAMPLE.event_type,
  created_at: '2026-01-15T10:30:00.020424+0000',
  payload: GRANT_EXAMPLE,
  deliveries: [
    {
      webhook_id: '35741aba-a164-45b7-adc3-9d833aac461e',
      state: 'delivered',
      attempts: 1,
      last_status: 200,
      next_attempt_at: null,
    },
  ],
};

export const EventsResponse = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        event_id: Type.String(),
        event_type: Type.String({ published: { type: 'string', enum: EVENT_TYPE_NAMES } }),
        created_at: Type.String(),
        payload: Type.Unsafe<object>({ type: 'object', published: { oneOf: EVENT_TYPE_NAMES.map(eventPayload) } }),
        deliveries: Type.Array(Delivery),
      }),
    ),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  },
  { examples: [{ data: [EXAMPLE], next_cursor: null }] },
);

export type EventsResponse = Static<typeof EventsResponse>;
