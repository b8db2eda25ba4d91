// Keeps installs by column, as src/facts/columns.ts does facts. Whoever writes an install leaves its images in
// install_column_change, in the same transaction. The background moves these into columns, or discards them if the
// month has too few installs to need any.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { inSnapshot } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import {
  type ColumnLayout,
  createFailedMonths,
  type FailedMonths,
  failedRelation,
  groupOf,
  isInMonth,
  MAX_APPENDED,
  type Month,
  refreshMonths,
  removeChanges,
  removeChunks,
  selectChanges,
  writeGroups,
} from './column-groups.ts';
import { INSTALL_KIND } from './kind.ts';
import { quarterOf } from './quarters.ts';
import { setLimits } from './totals.ts';

/** The columns kept of an image, as text. */
export const INSTALL_COLUMNS = {
  kind: INSTALL_KIND,
  installed_day: sql`f.installed_day`,
  installed_quarter: quarterOf('installed_at', 'installed_day'),
  country_key: sql`f.country_key`,
  store_key: sql`f.store_key`,
  attribution_key: sql`f.attribution_key`,
} as const satisfies Record<string, RawBuilder<unknown>>;

const INSTALLS: ColumnLayout = {
  day: 'installed_day',
  changes: 'install_column_change',
  chunks: 'install_column_chunk',
  columns: INSTALL_COLUMNS,
};

/** Months with fewer installs get no columns: charts read the installs. */
const MIN_INSTALLS = 10_000;
/** When a month has this many changes, they become a group of their own; until then, charts read them one by one. */
const MIN_CHANGES = 1_024;

/** Lists for each app the month with the most changes, among those that have enough of them or no columns yet. */
async function listMonthsInNeed(
  db: Kysely<DB>,
  { minChanges, maxAppended }: { minChanges: number; maxAppended: number },
  failed: FailedMonths,
): Promise<Month[]> {
  const { rows } = await sql<Month>`
    select distinct on (app_key) app_key, month, coalesce(m.appended + c.changes <= ${maxAppended}::float8 * m.installs, false) as can_append
    from (
      select app_key, first_of_month(installed_day) as month, count(*) as changes
      from install_column_change group by 1, 2
    ) c left join install_column_month m using (app_key, month)
    where (m.month is null or c.changes >= ${minChanges}) and (app_key, month) not in ${failedRelation(failed)}
    order by app_key, c.changes desc`.execute(db);
  return rows;
}

/** Whether the month has columns, which another process may have written meanwhile, or enough installs to get some. */
async function isKept(trx: Kysely<DB>, month: Month, minInstalls: number): Promise<boolean> {
  const { rows } = await sql<{ is_kept: boolean }>`
    select count(*) >= ${minInstalls}
      or exists (select from install_column_month where app_key = ${month.app_key} and month = ${month.month}) as is_kept
    from (select from fact_install f where ${isInMonth(INSTALLS, month)} limit ${minInstalls}) f`.execute(trx);
  return rows[0]!.is_kept;
}

/** Writes images in groups, sorted by label: a group then has few distinct labels, and a filter skips whole groups. */
function writeImages(trx: Kysely<DB>, month: Month, images: RawBuilder<unknown>): Promise<number> {
  const rows = sql`(select i.*, ${groupOf(sql`i.attribution_key`)} as row_group from (${images}) i)`;
  return writeGroups(trx, INSTALLS, { month, rows });
}

async function append(trx: Kysely<DB>, month: Month): Promise<void> {
  const appended = await writeImages(trx, month, selectChanges(INSTALLS, month));
  await sql`update install_column_month set appended = appended + ${appended}
    where app_key = ${month.app_key} and month = ${month.month}`.execute(trx);
}

async function rebuild(trx: Kysely<DB>, month: Month): Promise<void> {
  await removeChunks(trx, INSTALLS, month);
  const images = sql`select 1 as sign, * from fact_install f where ${isInMonth(INSTALLS, month)}`;
  const installs = await writeImages(trx, month, images);
  await sql`insert into install_column_month (app_key, month, installs) values (${month.app_key}, ${month.month}, ${installs})
    on conflict (app_key, month) do update set installs = ${installs}, appended = 0`.execute(trx);
}

/**
 * Handles the changes of one month of each app that has any, and returns for how many apps it did. Each month is
 * handled in one snapshot, so changes that are committed later stay for the next time.
 */
export async function refreshInstallColumns(
  db: Kysely<DB>,
  { minInstalls = MIN_INSTALLS, minChanges = MIN_CHANGES, maxAppended = MAX_APPENDED } = {},
  failed = createFailedMonths(),
): Promise<number> {
  const months = await listMonthsInNeed(db, { minChanges, maxAppended }, failed);
  return refreshMonths(db, { months, failed }, (month, connection) =>
    inSnapshot(connection, async (trx) => {
      await setLimits(trx);
      if (month.can_append) await append(trx, month);
      else if (await isKept(trx, month, minInstalls)) await rebuild(trx, month);
      await removeChanges(trx, INSTALLS, month);
      return 1;
    }),
  );
}
