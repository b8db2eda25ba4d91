// AJV as Fastify's validator, with its defaults that coerce and strip turned off. Schemas may carry `rules`: a function from
// the body to the field errors that no keyword can say (identifiers of which one is needed, dates in order); and `published`, what the
// API reference shows instead of a schema of which the rules judge a part.
import { Ajv, type ErrorObject } from 'ajv';
import { type ApiError, apiError, type FieldError, validationError } from '../errors.ts';
import { parseDatetime } from '../lib/datetime.ts';
import { isStorableText } from '../lib/text.ts';
import { toFieldErrors } from './field-errors.ts';

/** Cross-field rules of a schema; they see the body before its types are known to be right. */
export type Rules = (body: Record<string, unknown>) => FieldError[];

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: true,
  // JSON's 1e999 is a number, Infinity, which every maximum refuses.
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
  // Of the shortest decimal text; an exponent stands for more decimals, or for a number beyond every bound.
  compile: (most: number) => {
    const form = new RegExp(`^-?\\d+(\\.\\d{1,${most}})?$`);
    return (value: number) => form.test(String(value));
  },
});

interface ObjectSchema {
  properties?: Record<string, unknown>;
  rules?: Rules;
}

/** The fields in the order of their table, each with the members that it has. */
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
  // An unknown one has the index -1, which becomes the largest number: those are the last.
  const rank = ({ source }: FieldError) => order.indexOf(source) >>> 0;
  const fields = [...new Map(found.toReversed().map((field) => [field.source, field])).values()].toReversed();
  return fields.sort((a, b) => rank(a) - rank(b));
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function problemsOf(schema: ObjectSchema, errors: readonly ErrorObject[], body: unknown): ApiError | undefined {
  if (!isObject(body)) return apiError('body_not_object');
  const [first, ...rest] = listFieldErrors(schema, errors, body);
  return first && validationError([first, ...rest]);
}

/** A check of values that come from elsewhere than a request: what is wrong with each field, nothing if it is valid. */
export function compileCheck(schema: ObjectSchema): (value: unknown) => FieldError[] {
  const validate = ajv.compile(schema);
  return (value) => {
    if (!isObject(value))
      return [{ source: 'non_field_errors', code: 'type_error', message: 'Must be a JSON object.' }];
    validate(value);
    return listFieldErrors(schema, validate.errors ?? [], value);
  };
}

/** Fastify's validator compiler: the error it gives is already in the envelope. */
export function compileValidator({
  schema,
}: {
  schema: unknown;
}): (data: unknown) => { value: unknown } | { error: ApiError } {
  const objectSchema = schema as ObjectSchema;
  const validate = ajv.compile(objectSchema);
  return (data) => {
    validate(data);
    const error = problemsOf(objectSchema, validate.errors ?? [], data);
    return error ? { error } : { value: data };
  };
}
