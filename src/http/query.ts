// Parses query strings as forms encode them: percent-escaped UTF-8, with `+` for a space.
import { isUtf8 } from 'node:buffer';

/**
 * Placeholders for a value that is not UTF-8 and for a parameter that was sent more than once. No schema accepts text
 * with unpaired surrogates, and decoding never produces any.
 */
export const INVALID_UTF8 = '\udfff\ud800';
export const REPEATED = '\udfff\ud801';

/** Not decodeURIComponent: it throws, which takes 10 µs, and a query may hold thousands of invalid texts. */
function decode(escaped: string, fallback: string): string {
  if (/%(?![0-9a-f]{2})/i.test(escaped)) return fallback;
  const latin1 = escaped
    .replaceAll('+', ' ')
    .replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : fallback;
}

export function parseQuery(text: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const [escapedName, escapedValue] = [pair.slice(0, end), pair.slice(end + 1)];
    const name = decode(escapedName, escapedName);
    query[name] = name in query ? REPEATED : decode(escapedValue, INVALID_UTF8);
  }
  return query;
}
