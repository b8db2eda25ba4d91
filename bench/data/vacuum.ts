// Vacuums and analyses the tables that autovacuum would, by its default thresholds.
import { query, withClient } from '../database.ts';
import type { Dataset } from './datasets.ts';

const DUE = `
  select relname from pg_stat_user_tables
  where n_dead_tup > 50 + 0.2 * n_live_tup or n_mod_since_analyze > 50 + 0.1 * n_live_tup
    or n_ins_since_vacuum > 1000 + 0.2 * n_live_tup`;

export async function vacuumChanged({ url }: Dataset): Promise<void> {
  const due = await query(url, DUE);
  await withClient(url, async (client) => {
    for (const { relname } of due) await client.query(`vacuum analyze ${client.escapeIdentifier(String(relname))}`);
  });
}
