// What the facts of an app are like in a snapshot, and so how a chart is read from them.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import { versionOf } from '../facts/version.ts';
import type { Owner } from './sources.ts';

/** Beyond so many facts that the totals lack, adding them one by one costs more than the totals save. */
const MOST_PENDING = 50_000;

export interface FactsState {
  version: string;
  /** Whether the totals may be read where they have the answer; without them it is the same, and slower. */
  usesTotals: boolean;
  /** Whether there are profiles whose facts still carry an earlier label. */
  hasPendingLabels: boolean;
}

export async function readFactsState(db: Kysely<DB>, { app_id, app_key }: Owner): Promise<FactsState> {
  const few = (table: string) =>
    sql`(select count(*) from (select from ${sql.table(table)} where app_key = ${app_key} limit ${MOST_PENDING}) w)`;
  const { rows } = await sql<{ version: string; missing: bigint; has_labels: boolean }>`
    select ${versionOf(app_key)} as version, ${few('fact_pending')} + ${few('fact_retired')} as missing,
      exists (select from profile_attribution where app_id = ${app_id} and relabel_pending) as has_labels`.execute(db);
  const { version, missing, has_labels } = rows[0]!;
  return { version, usesTotals: missing < MOST_PENDING, hasPendingLabels: has_labels };
}
