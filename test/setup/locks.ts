// Holds locks, so that an operation stops where a test wants it to.
import { sql } from 'kysely';
import { expect, vi } from 'vitest';
import { connectTo } from '../db/one-connection.ts';
import type { TestDatabase } from './database.ts';
import type { TestService } from './service.ts';

/** Locks the profile as an operation would. Returns a function that releases it. */
export async function holdProfile(
  { database: { db } }: TestService,
  customerUserId: string,
): Promise<() => Promise<void>> {
  const trx = await db.startTransaction().execute();
  await sql`select from profile where customer_user_id = ${customerUserId} for no key update`.execute(trx);
  return async () => {
    await trx.commit().execute();
  };
}

/** Locks a table, on a connection of its own, so that nobody can read it. Returns a function that releases it. */
export async function holdTable({ database: { url } }: TestService, table: string): Promise<() => Promise<void>> {
  const holder = connectTo(url);
  const trx = await holder.startTransaction().execute();
  await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(trx);
  return async () => {
    await trx.commit().execute();
    await holder.destroy();
  };
}

/** Waits until `count` statements in this database wait for a lock. */
export async function waitForBlocked(
  { database: { db } }: { database: Pick<TestDatabase, 'db'> },
  count = 1,
): Promise<void> {
  await vi.waitFor(async () => {
    const { rows } = await sql<{ blocked: number }>`
      select count(*)::integer as blocked from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    expect(rows[0]?.blocked).toBe(count);
  }, 10_000);
}
