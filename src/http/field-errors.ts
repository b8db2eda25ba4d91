// Turns AJV's errors into entries of the error envelope: one per field, with the field's most telling fault.
import type { ErrorObject } from 'ajv';
import type { FieldError, ValidationCode } from '../errors.ts';
import { withArticle } from '../lib/article.ts';
import { counted } from '../lib/counted.ts';
import { DATETIME_MESSAGE } from '../lib/datetime.ts';
import { isStorableText, TEXT_MESSAGE } from '../lib/text.ts';
import { UTF8_MESSAGE } from './header-text.ts';
import { INVALID_UTF8, REPEATED } from './query.ts';
import { REPEATED_MESSAGE } from './service-headers.ts';

type Fault = Pick<FieldError, 'code' | 'message'>;

function typeFault(type: string | readonly string[]): Fault {
  const names = [type].flat().map((name) => (name === 'null' ? name : withArticle(name)));
  return { code: 'type_error', message: `Must be ${names.join(' or ')}.` };
}

const FORMATS: Record<string, Fault> = {
  datetime: { code: 'datetime', message: DATETIME_MESSAGE },
  text: { code: 'value_error', message: TEXT_MESSAGE },
};

function rule(message: string): Fault {
  return { code: 'value_error', message };
}

const FAULTS: Record<string, (error: ErrorObject) => Fault> = {
  type: ({ params }) => typeFault(params.type),
  enum: ({ params }) => ({
    code: 'enum',
    message: `Must be one of: ${params.allowedValues.filter((one: unknown) => one !== null).join(', ')}.`,
  }),
  format: ({ params }) => FORMATS[params.format] ?? rule(`Must be a valid ${params.format}.`),
  maxLength: ({ params }) => rule(`Must have at most ${params.limit} characters.`),
  minLength: ({ params }) => rule(`Must have at least ${counted(params.limit, 'character', 'characters')}.`),
  pattern: ({ parentSchema }) => rule(parentSchema?.description ?? 'Has an invalid format.'),
  minimum: ({ params }) => rule(`Must be at least ${params.limit}.`),
  maximum: ({ params }) => rule(`Must be at most ${params.limit}.`),
  maxDecimals: ({ schema }) => rule(`Must have at most ${schema} decimal places.`),
  additionalProperties: () => rule('Unknown field.'),
};

const PRECEDENCE: readonly ValidationCode[] = ['missing', 'type_error', 'enum', 'datetime', 'value_error'];

function sourceOf({ instancePath, keyword, params }: ErrorObject): string {
  const names = instancePath.split('/').slice(1);
  if (keyword === 'required') names.push(params.missingProperty);
  if (keyword === 'additionalProperties') names.push(params.additionalProperty);
  return names.join('.');
}

function faultOf(error: ErrorObject, source: string): Fault {
  // A null where the type does not allow null counts as missing.
  const isRequired = error.keyword === 'required' || (error.data === null && error.keyword === 'type');
  if (isRequired) return { code: 'missing', message: `The field ${source} is required.` };
  // These take precedence over the keyword that failed.
  if (error.data === INVALID_UTF8) return rule(UTF8_MESSAGE);
  if (error.data === REPEATED) return rule(REPEATED_MESSAGE);
  if (typeof error.data === 'string' && !isStorableText(error.data)) return rule(TEXT_MESSAGE);
  return FAULTS[error.keyword]?.(error) ?? rule('Is invalid.');
}

/** Returns one entry per field; a null where the type does not allow it is `missing`. */
export function toFieldErrors(errors: readonly ErrorObject[]): FieldError[] {
  const bySource = new Map<string, FieldError>();
  for (const error of errors) {
    const source = sourceOf(error);
    const fault = faultOf(error, source);
    const known = bySource.get(source);
    if (!known || PRECEDENCE.indexOf(fault.code) < PRECEDENCE.indexOf(known.code)) {
      bySource.set(source, { source, ...fault });
    }
  }
  return [...bySource.values()];
}
