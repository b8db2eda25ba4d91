// The Idempotency-Key header, which tells a repeated request from a new one.
import { hash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { valueError } from '../errors.ts';
import { canonicalText } from '../lib/canonical-text.ts';
import { lengthOf } from '../lib/text.ts';
import { readHeaderText } from './header-text.ts';
import { findHeader, type Headers, type SentHeader } from './service-headers.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';

const KEY_LENGTH = 255;

/** The header's schema in the API reference. */
export const IdempotencyHeader = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: KEY_LENGTH,
    description:
      'Repeating the request within 24 hours returns the first response and changes nothing; repeating it with a different body is refused. ' +
      'A key applies to one operation on one profile. A refused request does not use up its key.',
  }),
);

/** Identifies a request that must take effect only once. */
export interface Once {
  key: string;
  /** Digest of the canonical body: white space, the order of members and members that are null do not matter. */
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

/** Returns undefined if the request has no such header. A blank one is refused: it would protect nothing. */
export function readOnce(message: Headers, body: unknown): Once | undefined {
  const header = findHeader(message, IDEMPOTENCY_KEY);
  if (!header) return undefined;
  return {
    key: readKey(header),
    body_sha256: hash('sha256', canonicalText(body, { nullIsNone: true }), 'buffer'),
  };
}
