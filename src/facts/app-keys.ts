// Finds the apps that have background work to do.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/** Returns the keys of the apps for which a condition on `app` is true, in ascending order. */
export async function listAppKeys(db: Kysely<DB>, condition: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ app_key: number }>`
    select app_key from app where ${condition} order by app_key`.execute(db);
  return rows.map(({ app_key }) => app_key);
}

/**
 * Whose turn it is (the app after the one served last), and whether the last round left any work undone. A round
 * updates this object as it goes, so that the next one continues from there even if this one ends by throwing.
 */
export interface Turn {
  after: number;
  hasMore: boolean;
}

/** Returns the same keys, but starts with the app whose turn it is and wraps around. */
export async function listInTurn(db: Kysely<DB>, condition: RawBuilder<unknown>, { after }: Turn): Promise<number[]> {
  const appKeys = await listAppKeys(db, condition);
  return [...appKeys.filter((key) => key > after), ...appKeys.filter((key) => key <= after)];
}
