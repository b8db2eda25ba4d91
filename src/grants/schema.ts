// The bodies of grant access level (interface 4.3) and of its revocation.
import { type Static, Type } from '@sinclair/typebox';
import { mustFollow } from '../http/order-rule.ts';
import { NullableDatetime, Text } from '../lib/typebox.ts';

export const GrantBody = Type.Object(
  {
    access_level_id: Text(255, { description: 'ID of a paid access level configured for the app.' }),
    starts_at: Type.Optional(
      NullableDatetime({
        description: 'When the access level becomes active; may be in the future. Null: immediately.',
      }),
    ),
    expires_at: Type.Optional(
      NullableDatetime({ description: 'When it expires, after starts_at; may be in the past. Null: lifetime access.' }),
    ),
  },
  {
    rules: mustFollow('expires_at', 'starts_at'),
    examples: [{ access_level_id: 'premium', expires_at: '2100-01-01T00:00:00Z' }],
  },
);

export type GrantBody = Static<typeof GrantBody>;

export const RevokeBody = Type.Object(
  {
    access_level_id: Text(255, { description: 'ID of a paid access level that was granted to the profile.' }),
    revoke_at: Type.Optional(
      NullableDatetime({
        description: 'When the grant ends; not in the past and not after its current end. Null: now.',
      }),
    ),
  },
  { examples: [{ access_level_id: 'premium' }] },
);

export type RevokeBody = Static<typeof RevokeBody>;
