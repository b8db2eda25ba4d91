// The state of an app's facts in a snapshot, which decides how a chart is read from them.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { versionOf } from '../facts/version.ts';
import { appToday } from './app-days.ts';
import type { Entries } from './entries.ts';
import type { ChartQuery } from './request.ts';

/** If the totals lack this many facts, adding them one by one costs more than the totals save. */
const MAX_PENDING = 50_000;

export interface FactsState {
  version: string;
  /** Whether totals and columns may be read if they have the answer. Without them it is the same, only slower. */
  usesTotals: boolean;
  /** The months of purchase, and of install, that are also kept in columns: their first days, in order. */
  months: Readonly<Record<Entries['of'], readonly number[]>>;
  /** Which kinds of rows exist that a query has to take into account: pending facts, retired images, … */
  has: {
    pending: boolean;
    retired: boolean;
    /** Facts that moved to another label after they were totalled. */
    moved: boolean;
    /** Changes since the columns were written. */
    changes: boolean;
    installChanges: boolean;
    futureRefunds: boolean;
    /** Profiles whose facts still carry an earlier label. */
    pendingLabels: boolean;
  };
}

export async function readFactsState(db: Kysely<DB>, { app_key }: App, query: ChartQuery): Promise<FactsState> {
  const countUpToLimit = (table: string) =>
    sql`(select count(*) from (select from ${sql.table(table)} where app_key = ${app_key} limit ${MAX_PENDING}) w)`;
  const { rows } = await sql<Pick<FactsState, 'version' | 'usesTotals'> & FactsState['months'] & FactsState['has']>`
    select ${versionOf(app_key)} as version, lacking.pending + lacking.retired < ${MAX_PENDING} as "usesTotals",
      array(select month from fact_column_month where app_key = ${app_key} order by 1) as transaction,
      array(select month from install_column_month where app_key = ${app_key} order by 1) as install,
      lacking.pending > 0 as pending, lacking.retired > 0 as retired,
      exists (select from fact_moved where app_key = ${app_key}) as moved,
      exists (select from fact_column_change where app_key = ${app_key}) as changes,
      exists (select from install_column_change where app_key = ${app_key}) as "installChanges",
      exists (select from fact_transaction where app_key = ${app_key}
        and refunded_day >= ${appToday(query)} and refunded_at > ${query.now}::timestamptz) as "futureRefunds",
      exists (select from label_pending where app_key = ${app_key}) as "pendingLabels"
    -- "offset 0" keeps the counts from being evaluated twice.
    from (select ${countUpToLimit('fact_pending')} as pending, ${countUpToLimit('fact_retired')} as retired offset 0) lacking`.execute(
    db,
  );
  const { version, usesTotals, transaction, install, ...has } = rows[0]!;
  return { version, usesTotals, months: { transaction, install }, has };
}
