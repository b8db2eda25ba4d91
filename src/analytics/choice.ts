// Reads the members of a chart request other than `filters`. The value of each is one of a list of words.
import type { FieldError } from '../errors.ts';
import { isStorableText, TEXT_MESSAGE } from '../lib/text.ts';

interface Choice<T extends string, F extends T | null> {
  name: string;
  values: readonly T[];
  /** The value if the member is absent or null. */
  fallback: F;
  /** Other spellings of the values. */
  spellings?: ReadonlyMap<string, T>;
}

/** Returns the value of a member. If it is invalid, notes the problem and returns the fallback. */
export function readChoice<T extends string, F extends T | null>(
  problems: FieldError[],
  members: Record<string, unknown>,
  { name, values, fallback, spellings }: Choice<T, F>,
): T | F {
  const value = members[name] ?? null;
  const note = (code: FieldError['code'], message: string) => {
    problems.push({ source: name, code, message });
    return fallback;
  };
  if (value === null) return fallback;
  if (typeof value !== 'string') return note('type_error', 'Must be a string.');
  if (!isStorableText(value)) return note('value_error', TEXT_MESSAGE);
  const known = values.find((one) => one === value) ?? spellings?.get(value);
  return known ?? note('enum', `Must be one of: ${[...values, ...(spellings?.keys() ?? [])].join(', ')}.`);
}
