// Loads what is read of any profile into the buffers of the database, as on a server that has run for a while. The
// tables of the references have just been made and are there already. The kernel's page cache cannot be relied on: it
// has been seen to be reclaimed.
import { openBenchSession } from '../database.ts';
import type { Dataset } from './datasets.ts';

/** The tables, and the first columns of their primary keys. */
const KEYS = {
  profile_identity: 'app_id, customer_user_id',
  profile: 'app_id, profile_id',
  profile_attribution: 'app_id, profile_id',
  purchase: 'app_id, profile_id',
  fact_transaction: 'app_key, profile_id',
  fact_install: 'app_key, profile_id',
};

export type Table = keyof typeof KEYS;

/** Tables that posts about profiles read. */
export const PROFILES: readonly Table[] = ['profile_identity', 'profile', 'profile_attribution'];
/** Tables that grants and transactions read. */
export const PURCHASES: readonly Table[] = [...PROFILES, 'purchase'];
/**
 * Tables that charts of profiles whose label waits read. Those of the facts come last, because what does not fit is
 * evicted in the order of reading.
 */
export const FACTS: readonly Table[] = [...PURCHASES, 'fact_transaction', 'fact_install'];

export async function warm({ url }: Dataset, tables: readonly Table[]): Promise<void> {
  const { client, close } = await openBenchSession(url);
  try {
    // Row by row, as requests read: a sequential scan of a large table would bypass the buffers.
    await client.query('set enable_seqscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off');
    for (const table of tables) {
      await client.query(`select count(*) from (select from ${table} order by ${KEYS[table]} offset 0) t`);
    }
  } finally {
    await close();
  }
}
