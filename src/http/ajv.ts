// AJV as Fastify's validator, without Fastify's defaults that coerce values and strip fields. Two keywords are our own:
// `rules`, a function that finds the field errors no keyword can express (one of several identifiers is required, dates
// must be in order), and `published`, the schema that the API reference shows where rules do part of the checking.
import { Ajv, type ErrorObject } from 'ajv';
import { type ApiError, apiError, type FieldError, validationError } from '../errors.ts';
import { parseDatetime } from '../lib/datetime.ts';
import { isStorableText } from '../lib/text.ts';
import { toFieldErrors } from './field-errors.ts';

/** Cross-field rules of a schema. They run even if the types of the body are wrong. */
export type Rules = (body: Record<string, unknown>) => FieldError[];

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: true,
  // JSON.parse reads 1e999 as Infinity. It passes as a number here, and every `maximum` refuses it.
  strictNumbers: false,
  allowUnionTypes: true,
  formats: {
    text: isStorableText,
    datetime: (value: string) => parseDatetime(value) !== undefined,
  },
});
ajv.addVocabulary(['rules', 'published']);
ajv.addKeyword({
  keyword: 'maxDecimals',
  type: 'number',
  // Counts the decimals of the shortest decimal text. An exponent there means more decimals, or a number beyond every
  // bound, so it is refused.
  compile: (max: number) => {
    const form = new RegExp(`^-?\\d+(\\.\\d{1,${max}})?$`);
    return (value: number) => form.test(String(value));
  },
});

interface ObjectSchema {
  properties?: Record<string, unknown>;
  rules?: Rules;
}

/** Lists the fields in schema order, each followed by its members. */
function listFields({ properties = {} }: ObjectSchema, prefix = ''): string[] {
  return Object.entries(properties).flatMap(([name, member]) => {
    const field = `${prefix}${name}`;
    return [field, ...listFields(member as ObjectSchema, `${field}.`)];
  });
}

function listFieldErrors(schema: ObjectSchema, errors: readonly ErrorObject[], body: object): FieldError[] {
  const found = [...toFieldErrors(errors), ...(schema.rules?.(body as Record<string, unknown>) ?? [])];
  if (found.length === 0) return found;
  const order = listFields(schema);
  // `>>> 0` turns the -1 of an unknown field into the largest uint32, so unknown fields sort last.
  const rank = ({ source }: FieldError) => order.indexOf(source) >>> 0;
  const bySource = new Map<string, FieldError>();
  for (const field of found) if (!bySource.has(field.source)) bySource.set(field.source, field);
  return [...bySource.values()].sort((a, b) => rank(a) - rank(b));
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Compiles a check of values. It returns the field errors; none means valid. */
export function compileCheck(schema: ObjectSchema): (value: unknown) => FieldError[] {
  const validate = ajv.compile(schema);
  return (value) => {
    if (!isObject(value))
      return [{ source: 'non_field_errors', code: 'type_error', message: 'Must be a JSON object.' }];
    validate(value);
    return listFieldErrors(schema, validate.errors ?? [], value);
  };
}

/** Fastify's validator compiler. Its errors are ApiErrors, which already hold the envelope. */
export function compileValidator({
  schema,
}: {
  schema: unknown;
}): (data: unknown) => { value: unknown } | { error: ApiError } {
  const check = compileCheck(schema as ObjectSchema);
  return (data) => {
    if (!isObject(data)) return { error: apiError('body_not_object') };
    const errors = check(data);
    return errors.length > 0 ? { error: validationError(errors) } : { value: data };
  };
}
