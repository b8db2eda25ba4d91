// Queries of addresses, as forms write them: UTF-8 in percent-escapes, a blank as `+`, a name that comes again makes a list.
import { isUtf8 } from 'node:buffer';

/** Stands for what is no UTF-8: no schema takes a text with an unpaired surrogate. */
const NO_TEXT = '\ud800';

/** Not decodeURIComponent: it throws, which takes 10 µs, and a query may have thousands of wrong texts. */
function decode(escaped: string, otherwise: string): string {
  if (/%(?![0-9a-f]{2})/i.test(escaped)) return otherwise;
  const latin1 = escaped
    .replaceAll('+', ' ')
    .replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : otherwise;
}

export function parseQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const [escapedName, escapedValue] = [pair.slice(0, end), pair.slice(end + 1)];
    const name = decode(escapedName, escapedName);
    const value = decode(escapedValue, NO_TEXT);
    const earlier = query[name];
    if (Array.isArray(earlier)) earlier.push(value);
    else query[name] = earlier === undefined ? value : [earlier, value];
  }
  return query;
}
