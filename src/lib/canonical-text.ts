// A JSON value as text that is the same for the same value, whatever the order of its members; one that is null is the same as none
// (decisions.md 1). Pure.
const isGiven = ([, member]: [string, unknown]) => member !== null;
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

/**
 * Not recursive: what nobody has judged yet may be nested more deeply than the stack reaches. Numbers as JavaScript writes them: JSON
 * would write 1e999, which is read as Infinity, like null.
 */
export function canonicalText(body: unknown): string {
  const parts: string[] = [];
  const ahead = [body];
  while (ahead.length > 0) {
    const value = ahead.pop();
    if (typeof value !== 'object' || value === null) {
      parts.push(typeof value === 'number' ? String(value) : JSON.stringify(value));
      continue;
    }
    const isArray = Array.isArray(value);
    const members = isArray ? value : Object.entries(value).filter(isGiven).sort(byName).flat();
    parts.push(`${isArray ? 'array' : 'object'} of ${members.length}`);
    // Not as arguments, of which the stack holds so many.
    for (const member of members) ahead.push(member);
  }
  return parts.join('\n');
}
