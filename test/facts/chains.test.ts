// The integer arithmetic of src/facts/chains.ts. What it computes for a chain is compared with an oracle in
// test/analytics.
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaleAmount } from '../../src/facts/chains.ts';
import { MAX_NANO } from '../../src/lib/money.ts';
import { divide } from '../analytics/oracle-facts.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test.each([
  [52, 12],
  [1, 1],
  [1, 2],
  [1, 3],
  [1, 6],
  [1, 12],
])('%i/%i of an amount is exact to the last digit, whatever its sign', async (times, over) => {
  const edges = [0n, 1n, 2n, 3n, 6n, 18n, MAX_NANO - 6n, MAX_NANO];
  const amounts = [...edges, ...fc.sample(fc.bigInt({ min: 0n, max: MAX_NANO }), 200)];
  const { rows } = await sql<{ up: bigint; down: bigint }>`
    select ${scaleAmount(sql`amount`, times, over)} as up, ${scaleAmount(sql`(-amount)`, times, over)} as down
    from unnest(${amounts}::bigint[]) with ordinality t (amount, place) order by place`.execute(database.db);
  const exact = (amount: bigint) => divide(amount * BigInt(times), BigInt(over));
  expect(rows).toEqual(amounts.map((amount) => ({ up: exact(amount), down: exact(-amount) })));
});
