// How a request names a profile (decisions.md 3): the headers of server-side operations, and the form of identifiers.
import { Type } from '@sinclair/typebox';
import { apiError, type FieldError, validationError } from '../errors.ts';
import { readHeaderText } from '../http/header-text.ts';
import { IdempotencyHeader } from '../http/idempotency.ts';
import { findServiceHeader, type Headers, type SentHeader } from '../http/service-headers.ts';
import { isAbsent, lengthOf } from '../lib/text.ts';

export const CUSTOMER_USER_ID_LENGTH = 255;

/** The headers that name a profile, for the API reference; HEADER_ALIASES gives them further names. */
export const ProfileHeaders = Type.Object({
  'service-customer-user-id': Type.Optional(
    Type.String({
      maxLength: CUSTOMER_USER_ID_LENGTH,
      description:
        "The app's own user ID; this header or service-profile-id names the profile. Its bytes are UTF-8: a client whose headers can only hold Latin-1, " +
        "such as fetch, sends `Buffer.from(id).toString('latin1')`.",
    }),
  ),
  'service-profile-id': Type.Optional(Type.String({ description: 'Service-assigned profile identifier.' })),
});

/** For operations that accept an Idempotency-Key. */
export const OnceHeaders = Type.Object({ ...ProfileHeaders.properties, 'idempotency-key': IdempotencyHeader });

/** At least one is set; both must name the same profile. */
export interface ProfileIdentity {
  customer_user_id: string | null;
  profile_id: string | null;
}

/** Used where profiles of several apps are named together. */
export interface AppIdentity extends ProfileIdentity {
  app_id: string;
}

export const IDENTITY_MESSAGE = 'Either customer_user_id or profile_id is required.';

/** The identity as the headers of a request gave it. */
export interface SentIdentity extends ProfileIdentity {
  /** The name of the header, as it was sent, under which a fault of the customer user id is reported. */
  customer_source: string;
}

/** Reads the identifiers from the headers of a server-side operation; both may be absent. */
export function readIdentity(message: Headers, aliases: readonly string[]): SentIdentity {
  const customer = findServiceHeader(message, aliases, 'customer-user-id');
  const profile = findServiceHeader(message, aliases, 'profile-id');
  const problems: FieldError[] = [];
  const identity = {
    customer_user_id: customer ? readText(problems, customer, CUSTOMER_USER_ID_LENGTH) : null,
    customer_source: customer?.name ?? 'service-customer-user-id',
    profile_id: profile ? readText(problems, profile) : null,
  };
  if (problems.length > 0) throw validationError(problems);
  return identity;
}

function readText(problems: FieldError[], header: SentHeader, maxLength = Infinity): string | null {
  const read = readHeaderText(header);
  const addProblem = (message: string) => {
    problems.push({ source: header.name, code: 'value_error', message });
    return null;
  };
  if ('fault' in read) return addProblem(read.fault);
  return lengthOf(read.text) > maxLength ? addProblem(`Must have at most ${maxLength} characters.`) : read.text;
}

/** Like readIdentity, for operations on an existing profile: at least one header is required. */
export function requireIdentity(message: Headers, aliases: readonly string[]): SentIdentity {
  const identity = readIdentity(message, aliases);
  if (identity.customer_user_id === null && identity.profile_id === null) throw apiError('profile_not_named');
  return identity;
}

/**
 * Refuses identifiers in the body of a request without an identifying header. A body names no profile, so such a
 * request is a mistake, and would create another anonymous profile each time. If there is a header, identifiers in the
 * body are ignored like any unknown member, so that a profile can be sent back as it was received.
 */
export function refuseIdentifiers(body: object, { customer_user_id, customer_source, profile_id }: SentIdentity): void {
  if (customer_user_id !== null || profile_id !== null) return;
  const headers = { customer_user_id: customer_source, profile_id: 'service-profile-id' };
  const problems = Object.entries(headers)
    .filter(([name]) => !isAbsent((body as Record<string, unknown>)[name]))
    .map(([source, header]): FieldError => {
      return { source, code: 'value_error', message: `Must be sent in the header ${header} instead.` };
    });
  if (problems.length > 0) throw validationError(problems);
}
