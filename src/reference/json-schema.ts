// TypeBox schemas as plain JSON Schema for the API reference: what only our validator knows is left out or said in standard
// words, and what has a title stands once, under `components`.
import type { TSchema } from '@sinclair/typebox';

const OURS = new Set(['rules', 'maxDecimals', 'description']);

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

/** Of a record whose names are any: generators know its values by `additionalProperties` alone. */
const ANY_NAME = '^(.*)$';

function convertPatterns(patterns: Record<string, TSchema>, named: Named): Record<string, unknown> {
  const { [ANY_NAME]: any, ...others } = patterns;
  return {
    ...(any && { additionalProperties: convert(any, named) }),
    ...(Object.keys(others).length > 0 && { patternProperties: convertProperties(others, named) }),
  };
}

/** `published` says to readers in standard words what the other members say to our validator. */
function spellOut({ published, ...schema }: TSchema, named: Named): Record<string, unknown> {
  const { description, maxDecimals, format, properties, patternProperties, examples } = schema;
  if (published) {
    return { ...(description && { description }), ...toJsonSchema(published, named), ...(examples && { examples }) };
  }
  const decimals = maxDecimals === undefined ? '' : ` At most ${maxDecimals} decimals.`;
  const words = `${description ?? ''}${decimals}`.trim();
  const kept = Object.entries(schema).filter(
    ([name]) => !OURS.has(name) && !['format', 'properties', 'patternProperties'].includes(name),
  );
  return {
    ...(words && { description: words }),
    ...Object.fromEntries(kept.map(([name, value]) => [name, name === 'examples' ? value : convert(value, named)])),
    ...(format !== undefined && formatOf(format)),
    ...(properties && { properties: convertProperties(properties, named) }),
    ...(patternProperties && convertPatterns(patternProperties, named)),
  };
}

/** The schema, or a reference to it where it has a title; `named` collects those. */
export function toJsonSchema(schema: TSchema, named: Named): Record<string, unknown> {
  if (schema.title === undefined) return spellOut(schema, named);
  if (!named.has(schema.title)) named.set(schema.title, spellOut(schema, named));
  return { $ref: `#/components/schemas/${schema.title}` };
}
