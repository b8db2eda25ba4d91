// COPY stores the same values that their texts would give (src/db/copy-row.ts).
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CopyType, CopyValue } from '../../src/db/copy-row.ts';
import { openSession, type Session } from '../../src/db/session.ts';
import { isStorableText } from '../../src/lib/text.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
let session: Session;
beforeAll(async () => {
  database = await createTestDatabase();
  session = await openSession({
    connectionString: database.url,
    statementTimeoutMs: 10_000,
    applicationName: 'sps-test',
  });
});
afterAll(async () => {
  await session.close();
  await database.close();
});

/** Copies the values and returns what the database then has, as text. */
async function copyAndRead(type: CopyType, values: readonly CopyValue[]): Promise<(string | null)[]> {
  await sql.raw(`create temp table one (place integer, value ${type})`).execute(session.db);
  const rows = values.map((value, place) => [place, value]);
  try {
    await session.copy({ table: 'one', columns: [['place', 'integer'], ['value', type]] }, rows); // biome-ignore format: a line
    const read = await sql<{ value: string | null }>`select value::text from one order by place`.execute(session.db);
    return read.rows.map(({ value }) => value);
  } finally {
    await sql`drop table one`.execute(session.db);
  }
}

/** Casts the values from text and returns what the database makes of them, as text. */
async function castFromText(type: CopyType, values: readonly CopyValue[]): Promise<(string | null)[]> {
  const texts = values.map((value) => (value === null ? null : String(value)));
  const { rows } = await sql<{ value: string | null }>`
    select value::${sql.raw(type)}::text as value from unnest(${texts}::text[]) with ordinality t (value, place) order by place`.execute(
    session.db,
  );
  return rows.map(({ value }) => value);
}

const digits = (min: number, max: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((list) => list.join(''));
const decimal = fc
  .tuple(fc.boolean(), digits(1, 25), fc.option(digits(1, 12)))
  .map(([isNegative, whole, fraction]) => `${isNegative ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}`);
const timestamp = fc
  .tuple(
    fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    }),
    fc.integer({ min: 0, max: 999 }),
  )
  .map(([date, micros]) => `${date.toISOString().slice(0, 23)}${String(micros).padStart(3, '0')}Z`);

const VALUES: Record<CopyType, fc.Arbitrary<CopyValue>> = {
  text: fc
    .oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 20_000 }))
    .filter(isStorableText),
  uuid: fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.toUpperCase()),
  ),
  boolean: fc.boolean(),
  integer: fc.integer(),
  bigint: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.integer(), fc.maxSafeInteger()),
  numeric: decimal,
  timestamptz: timestamp,
};

test.each(Object.keys(VALUES) as CopyType[])('COPY stores values of %s like their texts', async (type) => {
  const column = fc.array(fc.option(VALUES[type]), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(column, async (values) => {
      expect(await copyAndRead(type, values)).toEqual(await castFromText(type, values));
    }),
    { numRuns: 60 },
  );
});

test('COPY stores values at the ends of their range', async () => {
  const moments = ['0001-01-01T00:00:00.000000Z', '1999-12-31T23:59:59.999999Z', '2000-02-29T00:00:00.000000Z'];
  expect(await copyAndRead('timestamptz', [...moments, '9999-12-31T23:59:59.999999Z'])).toEqual([
    '0001-01-01 00:00:00+00',
    '1999-12-31 23:59:59.999999+00',
    '2000-02-29 00:00:00+00',
    '9999-12-31 23:59:59.999999+00',
  ]);
  expect(await copyAndRead('numeric', ['0', '0.0', '10000', '9999.9999', '0.00001', '9.990', '-0.5'])).toEqual([
    ...['0', '0.0', '10000', '9999.9999', '0.00001', '9.990', '-0.5'],
  ]);
  expect(await copyAndRead('text', ['', 'a\tb\\.\n', 'ä'.repeat(64), '😀'])).toEqual([
    '',
    'a\tb\\.\n',
    'ä'.repeat(64),
    '😀',
  ]);
});

test.each([
  ['uuid', '00000000-0000-0000-0000-00000000000g'],
  ['uuid', '00000000-0000-0000-0000-0000000000000'],
  ['uuid', '00000000-0000-0000-0000-00000000000é'],
  ['uuid', '\uff100000000-0000-0000-0000-000000000000'],
  ['uuid', '00000000/0000-0000-0000-000000000000'],
  ['uuid', '00000000-0000-0000-000000000-0000000'],
  ['numeric', '1e-7'],
  ['timestamptz', '2025-01-15T10:30:00Z'],
  ['timestamptz', '2025-01-15 10:30:00.123456+00'],
] as const)('%s: COPY refuses %s rather than store something else', async (type, value) => {
  const error = await copyAndRead(type, [value]).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).not.toContain(value);
  expect(await copyAndRead('integer', [1])).toEqual(['1']);
});

test('COPY takes more than a block of rows', async () => {
  const values = Array.from({ length: 20_000 }, (_, i) => `${i} `.repeat(20));
  expect(await copyAndRead('text', values)).toEqual(values);
});
