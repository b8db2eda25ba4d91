// The kinds of environment variables, and how the text of each is read. Pure.

/** One environment variable: how it is parsed, its value when unset, and its description in the README. */
export interface Variable<T> {
  parse: (text: string) => T;
  fallback: T;
  description: string;
}

/** What is wrong with a value, worded to follow the name of its variable. */
export class Problem extends Error {}

export function integer(
  [min, max]: readonly [number, number],
  fallback: number,
  description: string,
): Variable<number> {
  const parse = (text: string) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new Problem(`must be a whole number from ${min} to ${max}`);
    return value;
  };
  return { parse, fallback, description };
}

export function optional<T>(variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, fallback: undefined };
}

export function text(fallback: string, description: string): Variable<string> {
  return { parse: (value) => value, fallback, description };
}

export function flag(description: string): Variable<boolean> {
  const parse = (value: string) => {
    if (value !== 'true' && value !== 'false') throw new Problem('must be true or false');
    return value === 'true';
  };
  return { parse, fallback: false, description };
}

export function oneOf<const T extends string>(values: readonly T[], fallback: T, description: string): Variable<T> {
  const parse = (value: string) => {
    const found = values.find((one) => one === value);
    if (found === undefined) throw new Problem(`must be one of ${values.join(', ')}`);
    return found;
  };
  return { parse, fallback, description };
}

export function list(
  accepts: (part: string) => boolean,
  form: string,
  description: string,
): Variable<readonly string[]> {
  const parse = (value: string) => {
    const parts = value.split(',').map((part) => part.trim());
    if (!parts.every(accepts)) throw new Problem(`must be ${form}, separated by commas`);
    return parts;
  };
  return { parse, fallback: [], description };
}

export function matching(
  accepts: (value: string) => boolean,
  form: string,
  description: string,
): Variable<string | undefined> {
  const parse = (value: string) => {
    if (!accepts(value)) throw new Problem(`must be ${form}`);
    return value;
  };
  return { parse, fallback: undefined, description };
}

const ENCRYPTION_KEY_FORMS = [
  { form: /^[0-9a-f]{64}$/i, encoding: 'hex' },
  { form: /^[A-Za-z0-9+/]{43}=$/, encoding: 'base64' },
] as const;

export function encryptionKey(description: string): Variable<Buffer | undefined> {
  const parse = (value: string) => {
    const found = ENCRYPTION_KEY_FORMS.find(({ form }) => form.test(value));
    if (!found) throw new Problem('must be 32 bytes, as 64 hex digits or in base64');
    return Buffer.from(value, found.encoding);
  };
  return { parse, fallback: undefined, description };
}
