// Brings what is read of any profile into the buffers of the database, as on a server that has run for a while; the tables of the references
// have just been made, and are there. What the kernel keeps of files is not to be counted on: it was seen to be taken back.
import { openBenchSession } from '../database.ts';
import type { Dataset } from './datasets.ts';

/** Tables, and how their primary keys begin. */
const KEYS = {
  profile_identity: 'app_id, customer_user_id',
  profile: 'app_id, profile_id',
  profile_attribution: 'app_id, profile_id',
  purchase: 'app_id, profile_id',
  fact_transaction: 'app_key, profile_id',
  fact_install: 'app_key, profile_id',
};

export type Table = keyof typeof KEYS;

/** What posts about profiles read … */
export const PROFILES: readonly Table[] = ['profile_identity', 'profile', 'profile_attribution'];
/** … and grants to them and their transactions … */
export const PURCHASES: readonly Table[] = [...PROFILES, 'purchase'];
/** … and charts of those whose label waits; last, as what does not fit is pushed out in the order of reading. */
export const FACTS: readonly Table[] = [...PURCHASES, 'fact_transaction', 'fact_install'];

export async function warm({ url }: Dataset, tables: readonly Table[]): Promise<void> {
  const { client, close } = await openBenchSession(url);
  try {
    // Row by row, as requests read: what a sequential scan reads of a large table passes the buffers.
    await client.query('set enable_seqscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off');
    for (const table of tables) {
      await client.query(`select count(*) from (select from ${table} order by ${KEYS[table]} offset 0) t`);
    }
  } finally {
    await close();
  }
}
