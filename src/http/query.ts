// Queries of addresses, as forms write them: UTF-8 in percent-escapes, a blank as `+`.
import { isUtf8 } from 'node:buffer';

/** Stand for a value that is no UTF-8, and for one of several: no schema takes a text with unpaired surrogates, and nobody else writes these. */
export const NO_TEXT = '\udfff\ud800';
export const REPEATED = '\udfff\ud801';

/** Not decodeURIComponent: it throws, which takes 10 µs, and a query may have thousands of wrong texts. */
function decode(escaped: string, otherwise: string): string {
  if (/%(?![0-9a-f]{2})/i.test(escaped)) return otherwise;
  const latin1 = escaped
    .replaceAll('+', ' ')
    .replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : otherwise;
}

export function parseQuery(text: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const [escapedName, escapedValue] = [pair.slice(0, end), pair.slice(end + 1)];
    const name = decode(escapedName, escapedName);
    query[name] = name in query ? REPEATED : decode(escapedValue, NO_TEXT);
  }
  return query;
}
