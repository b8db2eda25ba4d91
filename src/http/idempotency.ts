// The Idempotency-Key of a request: what tells a repetition from another request.
import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { valueError } from '../errors.ts';
import { canonicalText } from '../lib/canonical-text.ts';
import { lengthOf } from '../lib/text.ts';
import { readHeaderText } from './header-text.ts';
import { findHeader, type Headers, type SentHeader } from './service-headers.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';

const KEY_LENGTH = 255;

/** For the API reference. */
export const IdempotencyHeader = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: KEY_LENGTH,
    description:
      'Repeats of the request within 24 hours get the first answer and change nothing more; with another body they are refused. ' +
      'A key is of one operation on one profile, and not used up by a request that is refused.',
  }),
);

/** A request that is to take effect once. */
export interface Once {
  key: string;
  /** Of the body in canonical form: white space, the order of members and those that are null make no other body. */
  body_sha256: Buffer;
}

function readKey(header: SentHeader): string {
  const read = readHeaderText(header);
  if ('fault' in read) throw valueError(IDEMPOTENCY_KEY, read.fault);
  if (read.text === '' || lengthOf(read.text) > KEY_LENGTH) {
    throw valueError(IDEMPOTENCY_KEY, `Must have 1 to ${KEY_LENGTH} characters.`);
  }
  return read.text;
}

/** Undefined where the request has no such header; a blank one is a mistake that would protect nobody. */
export function readOnce(message: Headers, body: unknown): Once | undefined {
  const header = findHeader(message, IDEMPOTENCY_KEY);
  if (!header) return undefined;
  return {
    key: readKey(header),
    body_sha256: createHash('sha256')
      .update(canonicalText(body, { nullIsNone: true }))
      .digest(),
  };
}
