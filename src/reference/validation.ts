// Which validation errors an operation can report, derived from its schemas. src/http/field-errors.ts decides which
// code is reported for a schema keyword. Pure.
import type { TSchema } from '@sinclair/typebox';
import { type ErrorBody, type FieldError, type ValidationCode, validationError } from '../errors.ts';
import type { Operation } from '../http/operation.ts';
import { DATETIME_MESSAGE } from '../lib/datetime.ts';

/** An example of each code, in the order in which the codes are listed. */
const EXAMPLES: Readonly<Record<ValidationCode, Omit<FieldError, 'code'>>> = {
  missing: { source: 'access_level_id', message: 'The field access_level_id is required.' },
  type_error: { source: 'channel', message: 'Must be a string or null.' },
  enum: { source: 'status', message: 'Must be one of: organic, non_organic, unknown.' },
  datetime: { source: 'expires_at', message: DATETIME_MESSAGE },
  value_error: { source: 'customer_user_id', message: 'Must have at most 255 characters.' },
};

const CODES = Object.keys(EXAMPLES) as ValidationCode[];

/** Keywords that do not constrain a value, or that have a code of their own. */
const NOT_VALUE_ERRORS = new Set(['type', 'enum', 'required', 'description', 'default', 'examples']);

const DATES = ['date', 'datetime'];

function codesIn(value: unknown): ValidationCode[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties = {}, items, anyOf = [], published, ...schema } = value as TSchema;
  return [
    ...(schema.required?.length > 0 ? ['missing' as const] : []),
    ...(schema.type === undefined ? [] : ['type_error' as const]),
    ...(schema.enum === undefined ? [] : ['enum' as const]),
    ...(DATES.includes(schema.format) ? ['datetime' as const] : []),
    ...(Object.keys(schema).some((keyword) => !NOT_VALUE_ERRORS.has(keyword)) ? ['value_error' as const] : []),
    ...[...Object.values(properties), ...anyOf, items, published].flatMap(codesIn),
  ];
}

/** Returns the codes that an operation can report. Headers are text, so anything wrong with one is a `value_error`. */
export function validationCodesOf({ body, querystring, headers }: Operation): ValidationCode[] {
  const codes = new Set([...codesIn(body), ...codesIn(querystring), ...(headers ? ['value_error' as const] : [])]);
  return CODES.filter((code) => codes.has(code));
}

export function validationExample(code: ValidationCode): ErrorBody {
  return validationError([{ code, ...EXAMPLES[code] }]).body;
}
