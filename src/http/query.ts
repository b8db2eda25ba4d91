// Queries of addresses, as forms write them: UTF-8 in percent-escapes, a blank as `+`, a name that comes again makes a list.

/** Stands for what is no UTF-8: no schema takes a text with an unpaired surrogate. */
const NO_TEXT = '\ud800';

function decode(escaped: string, otherwise: string): string {
  try {
    return decodeURIComponent(escaped.replaceAll('+', ' '));
  } catch {
    return otherwise;
  }
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
