// Parts of statements that are compiled only once (src/db/fixed.ts).
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { fixed, fixedColumns } from '../../src/db/fixed.ts';

test('a part has the text that it would have in a statement, with its names quoted', () => {
  const textOf = (part: ReturnType<typeof fixed>) => part.toOperationNode();
  expect(textOf(fixedColumns(['a', 'b "c"'], 't.'))).toEqual(sql.raw('"t"."a", "t"."b ""c"""').toOperationNode());
  expect(textOf(fixed(sql`${sql.ref('a')} = ${sql.lit("it's")}`))).toEqual(sql.raw(`"a" = 'it''s'`).toOperationNode());
});

test('a part with a value is refused, as it would have the value of its first use for ever', () => {
  expect(() => fixed(sql`a = ${1}`)).toThrow('values in a = $1');
});
