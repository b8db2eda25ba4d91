// The attribution record (interface 2.1).
import { type Static, Type } from '@sinclair/typebox';
import type { FieldError } from '../errors.ts';
import { ATTRIBUTION_STATUSES } from '../facts/values.ts';
import { isAbsent } from '../lib/text.ts';
import { NullableText, OneOf } from '../lib/typebox.ts';
import { CUSTOMER_USER_ID_LENGTH, IDENTITY_MESSAGE } from '../profile/identity.ts';

const FIELD_LENGTH = 500;

function needsIdentifier(body: Record<string, unknown>): FieldError[] {
  if (!isAbsent(body.customer_user_id) || !isAbsent(body.profile_id)) return [];
  return ['customer_user_id', 'profile_id'].map((source) => ({ source, code: 'missing', message: IDENTITY_MESSAGE }));
}

/** The members that describe an attribution, in the operation as in an import file. */
export const AttributionFields = {
  status: OneOf(ATTRIBUTION_STATUSES, { description: 'Whether the attribution is organic.' }),
  attribution_user_id: Type.Optional(
    NullableText(FIELD_LENGTH, { description: 'ID assigned to the user by the attribution source.' }),
  ),
  channel: Type.Optional(NullableText(FIELD_LENGTH, { description: 'Marketing channel name.' })),
  campaign: Type.Optional(NullableText(FIELD_LENGTH, { description: 'Marketing campaign name.' })),
  ad_group: Type.Optional(NullableText(FIELD_LENGTH, { description: 'Attribution ad group.' })),
  ad_set: Type.Optional(NullableText(FIELD_LENGTH, { description: 'Attribution ad set.' })),
  creative: Type.Optional(NullableText(FIELD_LENGTH, { description: 'Attribution creative keyword.' })),
};

export const AttributionBody = Type.Object(
  {
    ...AttributionFields,
    customer_user_id: Type.Optional(
      NullableText(CUSTOMER_USER_ID_LENGTH, {
        description: "The app's own user ID; one of the two identifiers is required.",
      }),
    ),
    profile_id: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        format: 'text',
        description: 'Service-assigned profile identifier; one of the two identifiers is required.',
      }),
    ),
  },
  {
    rules: needsIdentifier,
    examples: [{ customer_user_id: 'user-1', status: 'non_organic', channel: 'social', campaign: 'spring' }],
  },
);

export type AttributionBody = Static<typeof AttributionBody>;
