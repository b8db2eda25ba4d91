// Custom attributes (interface 8). Pure.
import type { FieldError } from '../errors.ts';
import { isStorableText, lengthOf, TEXT_WORDS } from '../lib/text.ts';

export type Attributes = Readonly<Record<string, string | number>>;

/** What a request says of attributes; null deletes. A map, since `__proto__` is a permitted key. */
export type AttributePatch = ReadonlyMap<string, string | number | null>;

const MOST_ATTRIBUTES = 30;
const VALUE_LENGTH = 30;
const KEY = /^[A-Za-z0-9_.-]{1,30}$/;

function wrong(message: string): FieldError {
  return { source: 'custom_attributes', code: 'value_error', message };
}

function faultOfKey(key: string): string | undefined {
  if (KEY.test(key)) return undefined;
  return 'A key has 1 to 30 letters, digits, dashes, points and underscores';
}

function faultOfValue(value: unknown): string | undefined {
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return undefined;
  if (typeof value !== 'string') return 'A value is a string or a number';
  if (!isStorableText(value)) return TEXT_WORDS.replace(/\.$/, '');
  return lengthOf(value) > VALUE_LENGTH ? `A value has at most ${VALUE_LENGTH} characters` : undefined;
}

/** Reads attributes as they were given: booleans become floats, null or an empty string deletes. */
export function readAttributes(
  given: Iterable<readonly [string, unknown]>,
): { patch: AttributePatch } | { fault: FieldError } {
  const patch = new Map<string, string | number | null>();
  for (const [key, value] of given) {
    const fault = faultOfKey(key) ?? faultOfValue(value);
    if (fault) return { fault: wrong(`${fault}: ${JSON.stringify(key.slice(0, 60))}.`) };
    patch.set(key, value === '' || value === null ? null : typeof value === 'string' ? value : Number(value));
  }
  return { patch };
}

/** The attributes of a profile after the patch. */
export function patchAttributes(
  current: Attributes,
  patch: AttributePatch,
): { attributes: Attributes } | { fault: FieldError } {
  const next = new Map<string, string | number>(Object.entries(current));
  for (const [key, value] of patch) {
    if (value === null) next.delete(key);
    else next.set(key, value);
  }
  if (next.size <= MOST_ATTRIBUTES) return { attributes: Object.fromEntries(next) };
  const surplus = JSON.stringify([...next.keys()].at(-1));
  return { fault: wrong(`A profile has at most ${MOST_ATTRIBUTES} attributes: ${surplus} is one too many.`) };
}
