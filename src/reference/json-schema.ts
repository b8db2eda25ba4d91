// Converts TypeBox schemas to plain JSON Schema for the API reference. Keywords that only our validator knows are left
// out or put in standard terms, and a schema with a title appears once, under `components`.
import type { TSchema } from '@sinclair/typebox';

function formatOf(format: unknown): Record<string, unknown> {
  if (format === 'text') return {};
  return { format: format === 'datetime' ? 'date-time' : format };
}

/** Schemas with a title, by their title. */
export type Named = Map<string, Record<string, unknown>>;

function convert(value: unknown, named: Named): unknown {
  if (Array.isArray(value)) return value.map((one) => convert(one, named));
  if (typeof value !== 'object' || value === null) return value;
  return toJsonSchema(value as TSchema, named);
}

function convertProperties(properties: object, named: Named): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, convert(schema, named)]));
}

/**
 * The pattern of a record with arbitrary names. Code generators derive the type of its values from
 * `additionalProperties` alone.
 */
const ANY_NAME = '^(.*)$';

function convertPatterns(patterns: Record<string, TSchema>, named: Named): Record<string, unknown> {
  const { [ANY_NAME]: any, ...others } = patterns;
  return {
    ...(any && { additionalProperties: convert(any, named) }),
    ...(Object.keys(others).length > 0 && { patternProperties: convertProperties(others, named) }),
  };
}

/** Converts a schema. `published` says in standard keywords what the other members mean to our validator. */
function convertSchema(schema: TSchema, named: Named): Record<string, unknown> {
  const { published, rules: _, description, maxDecimals, format, properties, patternProperties, ...kept } = schema;
  if (published) {
    const { examples } = kept;
    return { ...(description && { description }), ...toJsonSchema(published, named), ...(examples && { examples }) };
  }
  const decimals = maxDecimals === undefined ? '' : ` At most ${maxDecimals} decimals.`;
  const words = `${description ?? ''}${decimals}`.trim();
  return {
    ...(words && { description: words }),
    ...Object.fromEntries(
      Object.entries(kept).map(([name, value]) => [name, name === 'examples' ? value : convert(value, named)]),
    ),
    ...(format !== undefined && formatOf(format)),
    ...(properties && { properties: convertProperties(properties, named) }),
    ...(patternProperties && convertPatterns(patternProperties, named)),
  };
}

/** Returns the schema, or a reference to it if it has a title; `named` collects schemas with a title. */
export function toJsonSchema(schema: TSchema, named: Named): Record<string, unknown> {
  if (schema.title === undefined) return convertSchema(schema, named);
  if (!named.has(schema.title)) named.set(schema.title, convertSchema(schema, named));
  return { $ref: `#/components/schemas/${schema.title}` };
}
