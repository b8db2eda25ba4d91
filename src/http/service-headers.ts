// Finds our own headers: `service-…` and their names under HEADER_ALIASES. Each may be sent only once. Pure.
import type { IncomingMessage } from 'node:http';

export type Headers = Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

/** A header with the name it was sent under. */
export interface SentHeader {
  name: string;
  value: string;
  /** If true, `value` is all the values, joined. */
  isRepeated: boolean;
}

export const REPEATED_MESSAGE = 'Must be sent only once.';

export function findHeader(message: Headers, name: string): SentHeader | undefined {
  const value = message.headers[name];
  if (typeof value !== 'string') return undefined;
  return { name, value, isRepeated: value.includes(', ') && (message.headersDistinct[name]?.length ?? 0) > 1 };
}

/** Finds `service-{suffix}`, or else the first of its aliases that was sent. A blank header counts as absent. */
export function findServiceHeader(
  message: Headers,
  aliases: readonly string[],
  suffix: string,
): SentHeader | undefined {
  for (const prefix of ['service', ...aliases]) {
    const header = findHeader(message, `${prefix}-${suffix}`);
    if (header && /[^ \t]/.test(header.value)) return header;
  }
  return undefined;
}
