// Which apps the background has something to do for.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/** The keys of the apps of which the condition on `app` holds, in their order. */
export async function listAppKeys(db: Kysely<DB>, condition: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ app_key: number }>`
    select app_key from app where ${condition} order by app_key`.execute(db);
  return rows.map(({ app_key }) => app_key);
}

/**
 * Whose turn it is: that of the app after the one that was served last; and whether the last round left any out. A round writes into it, as
 * the next one goes on from there also where this one ends with what failed.
 */
export interface Turn {
  after: number;
  hasMore: boolean;
}

/** The same, from the one on whose turn it is. */
export async function listInTurn(db: Kysely<DB>, condition: RawBuilder<unknown>, { after }: Turn): Promise<number[]> {
  const appKeys = await listAppKeys(db, condition);
  return [...appKeys.filter((key) => key > after), ...appKeys.filter((key) => key <= after)];
}
