// A JSON value as text that is the same for the same value, whatever the order of its members. Pure.
const isGiven = ([, member]: [string, unknown]) => member !== null;
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

/** Names and members in turn, by name. */
function namedMembers(value: object, nullIsNone: boolean): unknown[] {
  const named = Object.entries(value).sort(byName);
  return (nullIsNone ? named.filter(isGiven) : named).flat();
}

/**
 * With `nullIsNone` a member that is null is the same as none (decisions.md 1).
 *
 * Not recursive: what nobody has judged yet may be nested more deeply than the stack reaches. Numbers as JavaScript writes them: JSON
 * would write 1e999, which is read as Infinity, like null.
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
    // Not `push(...members)`: so many arguments overflow the stack.
    for (const member of members) ahead.push(member);
  }
  return parts.join('\n');
}
