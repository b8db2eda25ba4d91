// The headers that are our own, pure: `service-…`, and what else HEADER_ALIASES calls them.
import type { IncomingHttpHeaders } from 'node:http';

/** A header as it was sent, with the name that it was sent under. */
export interface SentHeader {
  name: string;
  value: string;
}

/** `service-{suffix}`, else the first of its aliases that was sent; blank is absent. */
export function findServiceHeader(
  headers: IncomingHttpHeaders,
  aliases: readonly string[],
  suffix: string,
): SentHeader | undefined {
  for (const prefix of ['service', ...aliases]) {
    const name = `${prefix}-${suffix}`;
    const value = headers[name];
    if (typeof value === 'string' && /[^ \t]/.test(value)) return { name, value };
  }
  return undefined;
}
