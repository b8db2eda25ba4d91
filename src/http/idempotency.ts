// The Idempotency-Key of a request: what tells a repetition from another request.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Type } from '@sinclair/typebox';
import { valueError } from '../errors.ts';
import { canonicalText } from '../lib/canonical-text.ts';
import { isStorableText, lengthOf, TEXT_WORDS } from '../lib/text.ts';
import { readHeaderText, UTF8_WORDS } from './header-text.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';

const KEY_LENGTH = 255;

/** For the API reference. */
export const IdempotencyHeader = Type.Optional(
  Type.String({ description: 'Repeats of the request within 24 hours get the first answer and change nothing more.' }),
);

/** A request that is to take effect once. */
export interface Once {
  key: string;
  /** Of the body in canonical form: white space, the order of members and those that are null make no other body. */
  body_sha256: Buffer;
}

function readKey(raw: string): string {
  const key = readHeaderText(raw);
  if (key === undefined) throw valueError(IDEMPOTENCY_KEY, UTF8_WORDS);
  if (key === '' || lengthOf(key) > KEY_LENGTH) {
    throw valueError(IDEMPOTENCY_KEY, `Must have 1 to ${KEY_LENGTH} characters.`);
  }
  if (!isStorableText(key)) throw valueError(IDEMPOTENCY_KEY, TEXT_WORDS);
  return key;
}

/** Undefined where the request has no such header; a blank one is a mistake that would protect nobody. */
export function readOnce(headers: IncomingHttpHeaders, body: unknown): Once | undefined {
  const raw = headers[IDEMPOTENCY_KEY];
  if (raw === undefined) return undefined;
  return {
    key: readKey(String(raw)),
    body_sha256: createHash('sha256')
      .update(canonicalText(body, { nullIsNone: true }))
      .digest(),
  };
}
