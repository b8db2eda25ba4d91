// Canonical text of a JSON value: equal values give equal texts, whatever the order of their members. Pure.
const isGiven = ([, member]: [string, unknown]) => member !== null;
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

/** Returns names and values alternately, sorted by name. */
function namedMembers(value: object, nullIsNone: boolean): unknown[] {
  const entries = Object.entries(value).sort(byName);
  return (nullIsNone ? entries.filter(isGiven) : entries).flat();
}

/**
 * Returns the canonical text. With `nullIsNone`, a member that is null counts as absent (decisions.md 1).
 *
 * Not recursive: a body that has not been validated yet may be nested more deeply than the stack allows. Numbers are
 * written as JavaScript writes them: 1e999 is parsed as Infinity, which JSON would write as null.
 */
export function canonicalText(body: unknown, { nullIsNone }: { nullIsNone: boolean }): string {
  const parts: string[] = [];
  const ahead = [body];
  while (ahead.length > 0) {
    const value = ahead.pop();
    if (typeof value !== 'object' || value === null) {
      parts.push(typeof value === 'number' ? String(value) : JSON.stringify(value));
      continue;
    }
    const isArray = Array.isArray(value);
    const members = isArray ? value : namedMembers(value, nullIsNone);
    parts.push(`${isArray ? 'array' : 'object'} of ${members.length}`);
    // Not `push(...members)`: that many arguments could overflow the stack.
    for (const member of members) ahead.push(member);
  }
  return parts.join('\n');
}
