// The headers that are our own, pure: `service-…`, and what else HEADER_ALIASES calls them. Each is sent once.
import type { IncomingMessage } from 'node:http';

export type Headers = Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

/** A header as it was sent, with the name that it was sent under. */
export interface SentHeader {
  name: string;
  value: string;
  /** Its value is all of them, joined. */
  isRepeated: boolean;
}

export const REPEATED_WORDS = 'Must be sent once.';

export function findHeader(message: Headers, name: string): SentHeader | undefined {
  const value = message.headers[name];
  if (typeof value !== 'string') return undefined;
  return { name, value, isRepeated: value.includes(', ') && (message.headersDistinct[name]?.length ?? 0) > 1 };
}

/** `service-{suffix}`, else the first of its aliases that was sent; blank is absent. */
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
