// Brings what requests about any profile read into the buffers of the database, as on a server that has run for a while; the tables of the
// references have just been made, and are there. What the kernel keeps of files is not to be counted on: it was seen to be taken back.
import { openBenchSession } from '../database.ts';
import type { Dataset } from './datasets.ts';

const READ = {
  profile_identity: 'customer_user_id',
  profile: 'profile_id',
  profile_attribution: 'profile_id',
  purchase: 'profile_id',
};

export async function warm({ url }: Dataset): Promise<void> {
  const { client, close } = await openBenchSession(url);
  try {
    // Row by row, as requests read: what a sequential scan reads of a large table passes the buffers.
    await client.query('set enable_seqscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off');
    for (const [table, key] of Object.entries(READ)) {
      await client.query(`select count(*) from (select from ${table} order by app_id, ${key} offset 0) t`);
    }
  } finally {
    await close();
  }
}
