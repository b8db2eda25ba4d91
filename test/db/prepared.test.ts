// Prepared statements, and the texts that identify them (src/db/prepared.ts).
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isDatabaseAway } from '../../src/db/failures.ts';
import { executePrepared } from '../../src/db/prepared.ts';
import type { DB } from '../../src/db/types.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { connectTo } from './one-connection.ts';

let database: TestDatabase;
let db: Kysely<DB>;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connectTo(database.url);
});
afterAll(async () => {
  await db.destroy();
  await database.close();
});

/** Returns the names of the connection's prepared statements that start with `beginning`. */
async function listNames(beginning: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_prepared_statements where starts_with(name, ${beginning}) order by prepare_time`.execute(db);
  return rows.map(({ name }) => name);
}

test('statements that differ only in their values are prepared once', async () => {
  const part = (value: number) => sql`(select ${value}::integer as n)`;
  const ask = (one: number, other: number) =>
    executePrepared(db, 'test_values', sql<{ n: number }>`select n + ${other}::integer as n from ${part(one)} t`);
  expect([await ask(1, 2), await ask(3, 4)]).toEqual([[{ n: 3 }], [{ n: 7 }]]);
  expect(await listNames('test_values')).toHaveLength(1);
});

test('statements of one name that differ in a part, a name or a constant are kept apart', async () => {
  const parts = [
    ...[sql`1`, sql`2`, sql.lit(3), sql.lit(4), sql`${5}::integer`],
    ...[sql.ref('t.six'), sql.ref('t.seven'), sql.join([sql.lit(8)]), sql`(${sql.lit(9)})`],
  ];
  const ask = async (part: (typeof parts)[number]) => {
    const rows = await executePrepared(
      db,
      'test_parts',
      sql<{ n: number }>`select ${part} as n from (select 6 as six, 7 as seven) t`,
    );
    return rows[0]?.n;
  };
  for (const round of [1, 2]) {
    const found: unknown[] = [];
    for (const part of parts) found.push(await ask(part));
    expect([round, ...found]).toEqual([round, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  }
  expect(await listNames('test_parts')).toHaveLength(parts.length);
});

test('a connection that leads to a session in which its statements are not the prepared ones is replaced', async () => {
  const other = connectTo(database.url);
  try {
    const ask = (on: Kysely<DB>) => executePrepared(on, 'test_session', sql<{ n: number }>`select 1 as n`);
    await ask(db);
    const [name] = await listNames('test_session');
    await sql`deallocate ${sql.ref(name!)}`.execute(db);
    await sql`prepare ${sql.ref(name!)} as select 2`.execute(other);
    for (const [on, code] of [[db, '26000'] as const, [other, '42P05'] as const]) {
      const failure = await ask(on).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code });
      expect(isDatabaseAway(failure)).toBe(true);
      expect(await ask(on)).toEqual([{ n: 1 }]);
    }
  } finally {
    await other.destroy();
  }
});
