// Random values for a schema: mostly of the kind that it asks for, now and then of another.
import fc from 'fast-check';

/** The part of JSON Schema that is used here. */
interface Schema {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  /** The schema that the published document has in its place. */
  published?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  format?: string;
  pattern?: string;
  examples?: unknown[];
}

const MOMENTS = [
  ...[
    '2025-01-15T10:30:00Z',
    '2025-01-15t10:30:00.123456789+05:30',
    '2030-01-01T00:00:00Z',
    '2024-02-29T12:00:00-11:00',
  ],
  ...['1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z', '10000-01-01T00:00:00Z'],
  ...['2025-02-30T00:00:00Z', '2025-06-30T23:59:60Z', '2025-01-15T24:00:00Z', '2025-01-15', '2025-01-15T10:30:00', ''],
];
const DAYS = [
  '2025-01-01',
  '2025-01-31',
  '2024-02-29',
  '2026-12-31',
  '1970-01-01',
  '9999-12-31',
  '2025-02-30',
  '0001-01-01',
  '',
];
const TEXTS = [
  ...[
    'user-1',
    'premium',
    'gold',
    'app_store',
    'monthly',
    'ä',
    '\u{1f600}',
    '\ud800',
    '\u0000',
    '',
    ' x ',
    '__proto__',
  ],
  ...['x'.repeat(30), 'x'.repeat(31), 'x'.repeat(255), 'x'.repeat(256), '\u{1f600}'.repeat(255)],
];

function texts({ format, pattern }: Schema): fc.Arbitrary<unknown> {
  if (format === 'datetime') return fc.constantFrom(...MOMENTS);
  if (format === 'date') return fc.constantFrom(...DAYS);
  const others = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'binary', maxLength: 40 }));
  return pattern === undefined
    ? others
    : fc.oneof({ weight: 9, arbitrary: fc.stringMatching(new RegExp(pattern)) }, others);
}

function objects({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema)] as const);
  const known = fc.record(Object.fromEntries(members), { requiredKeys: required });
  if (typeof additionalProperties !== 'object') return known;
  const further = fc.dictionary(fc.constantFrom(...TEXTS, 'level'), valuesOf(additionalProperties), { maxKeys: 4 });
  return fc.tuple(known, further).map(([one, other]) => ({ ...one, ...other }));
}

const KINDS: Record<string, (schema: Schema) => fc.Arbitrary<unknown>> = {
  string: texts,
  object: objects,
  array: ({ items = {} }) => fc.array(valuesOf(items), { maxLength: 3 }),
  number: () => fc.oneof(fc.constantFrom(0, 1, 9.99, 0.0000001, 1e9, 1e13), fc.integer(), fc.double({ noNaN: true })),
  integer: () => fc.integer(),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
};

function proper(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.published) return proper(schema.published);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(proper));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const kinds = [schema.type ?? []].flat().map((type) => KINDS[type]!(schema));
  return kinds.length > 0 ? fc.oneof(...kinds) : fc.jsonValue();
}

export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const examples = schema.examples ?? [];
  return fc.oneof(
    { weight: 40, arbitrary: proper(schema) },
    { weight: 1, arbitrary: fc.jsonValue() },
    ...(examples.length > 0 ? [{ weight: 8, arbitrary: fc.constantFrom(...examples) }] : []),
  );
}
