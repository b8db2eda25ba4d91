// How a record of a file names its profile (analytics.md 1).
import { Type } from '@sinclair/typebox';
import type { FieldError } from '../errors.ts';
import { NullableText } from '../lib/typebox.ts';
import { isUuid } from '../lib/uuid.ts';
import { CUSTOMER_USER_ID_LENGTH, IDENTITY_MESSAGE, type ProfileIdentity } from '../profile/identity.ts';

export const IdentityFields = {
  profile_id: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] })),
  customer_user_id: Type.Optional(NullableText(CUSTOMER_USER_ID_LENGTH)),
};

/** Checks the identifiers; null or an empty string counts as absent (decisions.md 3). */
export function identityRules({ profile_id, customer_user_id }: Record<string, unknown>): FieldError[] {
  if (typeof profile_id === 'string' && profile_id !== '' && !isUuid(profile_id)) {
    return [{ source: 'profile_id', code: 'value_error', message: 'Must be a UUID.' }];
  }
  if (profile_id || customer_user_id) return [];
  return [{ source: 'customer_user_id', code: 'missing', message: IDENTITY_MESSAGE }];
}

/** Returns the identifiers, with profile_id in lower case. */
export function toIdentity(body: { profile_id?: string | null; customer_user_id?: string | null }): ProfileIdentity {
  return {
    profile_id: body.profile_id?.toLowerCase() || null,
    customer_user_id: body.customer_user_id || null,
  };
}

/** Returns each value once, leaving out absent ones. */
export function distinctTexts(values: readonly (string | null | undefined)[]): string[] {
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}
