// Statements fill the tables of fact images by position, so these tables need the columns of the facts in the same
// order.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

async function listColumns(table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname || ' ' || format_type(atttypid, atttypmod) as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped order by attnum`.execute(database.db);
  return rows.map(({ name }) => name);
}

test.each([
  ['fact_retired', 'fact_transaction', []],
  ['fact_moved', 'fact_transaction', ['sign smallint']],
  ['fact_column_change', 'fact_transaction', ['sign smallint']],
  ['install_column_change', 'fact_install', ['sign smallint']],
])('%s has the columns of %s', async (images, facts, before) => {
  const columns = await listColumns(facts);
  expect(columns.length).toBeGreaterThan(5);
  expect(await listColumns(images)).toEqual([...before, ...columns]);
});
