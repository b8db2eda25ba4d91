// The background work on facts that is still to be done, for all apps and processes, as recorded in the database.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/** Counts stop at this number. */
export const MAX_BACKLOG = 1_000_000;

export interface Backlog {
  facts_pending: number;
  facts_retired: number;
  facts_moved: number;
  labels_pending: number;
}

function count(table: keyof DB) {
  return sql`(select count(*)::integer from (select from ${sql.table(table)} limit ${MAX_BACKLOG}) waiting)`;
}

export async function countBacklog(db: Kysely<DB>): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select ${count('fact_pending')} as facts_pending, ${count('fact_retired')} as facts_retired,
      ${count('fact_moved')} as facts_moved, ${count('label_pending')} as labels_pending`.execute(db);
  return rows[0]!;
}
