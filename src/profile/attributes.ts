// Custom attributes of a profile (interface 8): turns what was sent into changes and merges them into what is stored,
// all or nothing. Pure.
import type { FieldError } from '../errors.ts';
import { isAbsent, isStorableText, lengthOf, TEXT_MESSAGE } from '../lib/text.ts';

export type Attributes = Record<string, string | number>;

/** null deletes the attribute. */
export type AttributeChanges = ReadonlyMap<string, string | number | null>;

const SOURCE = 'custom_attributes';
const MAX_ATTRIBUTES = 30;
export const KEY_PATTERN = /^[A-Za-z0-9._-]{1,30}$/;
export const VALUE_LENGTH = 30;
const FORM_MESSAGE = 'Must be an array of objects with key and value, or a dictionary.';

/** What is wrong with the attributes, in words for a human. */
class Fault extends Error {
  readonly code: FieldError['code'];

  constructor(message: string, code: FieldError['code'] = 'value_error') {
    super(message);
    this.code = code;
  }
}

function readValue(key: string, value: unknown): string | number | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number') {
    // 1e999 is valid JSON, too, and parses to Infinity.
    if (Number.isFinite(value)) return value;
    throw new Fault(`The value of ${key} is out of range.`);
  }
  if (typeof value !== 'string') throw new Fault(`The value of ${key} must be a string, a number or a boolean.`);
  if (!isStorableText(value)) throw new Fault(`The value of ${key}: ${TEXT_MESSAGE}`);
  if (lengthOf(value) > VALUE_LENGTH)
    throw new Fault(`The value of ${key} must have at most ${VALUE_LENGTH} characters.`);
  return value;
}

function readKey(key: string): string {
  if (KEY_PATTERN.test(key)) return key;
  const words = 'must have 1 to 30 characters: letters, digits, dashes, points and underscores';
  throw new Fault(`The key ${JSON.stringify(key.toWellFormed().slice(0, 40))} ${words}.`);
}

function readElement(element: unknown): readonly [string, unknown] {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    throw new Fault(FORM_MESSAGE, 'type_error');
  }
  const { key, value } = element as { key?: unknown; value?: unknown };
  if (key === undefined || key === null) throw new Fault('Each attribute needs a key.', 'missing');
  if (typeof key !== 'string') throw new Fault('The key of an attribute must be a string.', 'type_error');
  return [key, value];
}

function readEntries(given: unknown): (readonly [string, unknown])[] {
  if (given === undefined || given === null) return [];
  if (Array.isArray(given)) return given.map(readElement);
  if (typeof given === 'object') return Object.entries(given);
  throw new Fault(FORM_MESSAGE, 'type_error');
}

/** Reads `{key: value}` or `[{key, value}]`. Integers and booleans become floats; an empty value or null deletes. */
export function readAttributes(given: unknown): { changes: AttributeChanges } | { fault: FieldError } {
  try {
    const changes = new Map<string, string | number | null>();
    for (const [name, sent] of readEntries(given)) {
      const key = readKey(name);
      const value = readValue(key, sent);
      if (changes.has(key) && changes.get(key) !== value)
        throw new Fault(`The key ${key} is given twice, with different values.`);
      changes.set(key, value);
    }
    return { changes };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { fault: { source: SOURCE, code: error.code, message: error.message } };
  }
}

/** Returns the attributes after the changes, or why the changes cannot be made. */
export function mergeAttributes(
  stored: Readonly<Attributes>,
  changes: AttributeChanges,
): { attributes: Attributes } | { fault: FieldError } {
  const merged = new Map(Object.entries(stored));
  const added: string[] = [];
  for (const [key, value] of changes) {
    if (value !== null && !merged.has(key)) added.push(key);
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  if (merged.size > MAX_ATTRIBUTES) {
    const message = `A profile has at most ${MAX_ATTRIBUTES} custom attributes; with ${added.at(-1)} it would have ${merged.size}.`;
    return { fault: { source: SOURCE, code: 'value_error', message } };
  }
  // Not an object literal: `__proto__` is a permitted key.
  return { attributes: Object.fromEntries(merged) };
}

/** Checks the `custom_attributes` of a body. */
export function attributeRules(body: Record<string, unknown>): FieldError[] {
  const read = readAttributes(body[SOURCE]);
  return 'fault' in read ? [read.fault] : [];
}
