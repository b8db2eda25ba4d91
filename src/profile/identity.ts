// By what a request names a profile (decisions 3): the headers of server-side operations, and the form of identifiers.
import type { IncomingHttpHeaders } from 'node:http';
import { Type } from '@sinclair/typebox';
import { apiError, valueError } from '../errors.ts';
import { readHeaderText } from '../http/header-text.ts';
import { IdempotencyHeader } from '../http/idempotency.ts';
import { isStorableText, lengthOf, TEXT_WORDS } from '../lib/text.ts';

export const CUSTOMER_USER_ID_LENGTH = 255;

/** The headers that name a profile, for the API reference; HEADER_ALIASES gives them further names. */
export const ProfileHeaders = Type.Object({
  'service-customer-user-id': Type.Optional(
    Type.String({ description: "The app's own user ID; one of the two headers names the profile." }),
  ),
  'service-profile-id': Type.Optional(Type.String({ description: 'Service-assigned profile identifier.' })),
});

/** Of operations that may be asked to take effect once. */
export const OnceHeaders = Type.Object({ ...ProfileHeaders.properties, 'idempotency-key': IdempotencyHeader });

/** At least one is set; both must name the same profile. */
export interface ProfileIdentity {
  customer_user_id: string | undefined;
  profile_id: string | undefined;
}

/** Blank is absent. */
function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const raw = headers[name];
  return typeof raw !== 'string' || raw.trim() === '' ? undefined : readHeaderText(name, raw);
}

function findHeader(headers: IncomingHttpHeaders, prefixes: readonly string[], suffix: string) {
  for (const prefix of prefixes) {
    const name = `${prefix}-${suffix}`;
    const value = readHeader(headers, name);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

/** What the headers of a server-side operation name; both members may be absent. */
export function readIdentity(headers: IncomingHttpHeaders, aliases: readonly string[]): ProfileIdentity {
  const prefixes = ['service', ...aliases];
  const customer = findHeader(headers, prefixes, 'customer-user-id');
  if (customer && lengthOf(customer.value) > CUSTOMER_USER_ID_LENGTH) {
    throw valueError(customer.name, `Must have at most ${CUSTOMER_USER_ID_LENGTH} characters.`);
  }
  if (customer && !isStorableText(customer.value)) throw valueError(customer.name, TEXT_WORDS);
  const profile = findHeader(headers, prefixes, 'profile-id');
  return { customer_user_id: customer?.value, profile_id: profile?.value };
}

/** As readIdentity, for operations on an existing profile: one header is needed. */
export function requireIdentity(headers: IncomingHttpHeaders, aliases: readonly string[]): ProfileIdentity {
  const identity = readIdentity(headers, aliases);
  if (identity.customer_user_id === undefined && identity.profile_id === undefined) throw apiError('profile_not_named');
  return identity;
}
