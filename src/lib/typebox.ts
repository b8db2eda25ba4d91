// TypeBox schemas for which AJV reports one error per field: a union would produce one for each of its members. Pure.
import { type SchemaOptions, type TUnsafe, Type } from '@sinclair/typebox';

/** One of a closed set of strings. */
export function OneOf<const T extends string>(values: readonly T[], options: SchemaOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ ...options, type: 'string', enum: [...values] });
}

/** One of a closed set of strings, or null. */
export function NullableOneOf<const T extends string>(
  values: readonly T[],
  options: SchemaOptions = {},
): TUnsafe<T | null> {
  return Type.Unsafe<T | null>({ ...options, type: ['string', 'null'], enum: [...values, null] });
}

export const NullableString = Type.Unsafe<string | null>({ type: ['string', 'null'] });

/** Text that the database can hold, at most `maxLength` code points. */
export function Text(maxLength: number, options: SchemaOptions = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ ...options, type: 'string', format: 'text', maxLength });
}

export function NullableText(maxLength: number, options: SchemaOptions = {}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ ...options, type: ['string', 'null'], format: 'text', maxLength });
}

/** An ISO 8601 datetime (lib/datetime.ts). */
export function Datetime(options: SchemaOptions = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ ...options, type: 'string', format: 'datetime' });
}

export function NullableDatetime(options: SchemaOptions = {}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ ...options, type: ['string', 'null'], format: 'datetime' });
}
