// Common to the columns of facts and of installs. Rows are sorted and cut into groups, and each group is written as one
// chunk per column. Only one group is in memory at a time.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { readByCursor } from '../db/cursor.ts';
import type { DB } from '../db/types.ts';
import { DAY_MS } from '../lib/datetime.ts';
import { yieldToEventLoop } from '../lib/slices.ts';
import { createSteps } from '../lib/steps.ts';
import { type ColumnChunk, encodeColumn, encodePlaces, ROWS_PER_GROUP } from './column-chunk.ts';
import { withTotalsLocked } from './totals.ts';

/** When more rows have been appended to a month than this share of those it had at first, its columns are rebuilt. */
export const MAX_APPENDED = 0.5;

/** A month of an app; `month` is its first day, in days since 1970. */
export interface Month {
  app_key: number;
  month: number;
  /** Whether it has columns to which the changes can be appended without making a rebuild due (`MAX_APPENDED`). */
  can_append: boolean;
}

/** How facts or installs are kept by column: which columns, and in which tables. */
export interface ColumnLayout {
  /** The day that decides in which month a row is kept. */
  day: 'purchased_day' | 'installed_day';
  /** Images of changes since the columns were written. Whoever writes these into columns deletes them here. */
  changes: 'fact_column_change' | 'install_column_change';
  chunks: 'fact_column_chunk' | 'install_column_chunk';
  /** The columns kept of a row `f`, as text. */
  columns: Readonly<Record<string, RawBuilder<unknown>>>;
}

/** Returns the first day of the next month. */
export function monthAfter(month: number): number {
  const date = new Date(month * DAY_MS);
  return date.setUTCMonth(date.getUTCMonth() + 1) / DAY_MS;
}

/** Returns the condition that a row `f` is the app's and its day lies in the month. */
export function isInMonth({ day }: ColumnLayout, { app_key, month }: Month): RawBuilder<unknown> {
  const name = sql.ref(`f.${day}`);
  return sql`f.app_key = ${app_key} and ${name} >= ${month} and ${name} < ${monthAfter(month)}`;
}

/** Selects the changes of a month. */
export function selectChanges(layout: ColumnLayout, month: Month): RawBuilder<unknown> {
  return sql`select * from ${sql.table(layout.changes)} f where ${isInMonth(layout, month)}`;
}

/** Deletes the changes of a month. The caller holds the lock of the app's totals (`withTotalsLocked`). */
export async function removeChanges(trx: Kysely<DB>, layout: ColumnLayout, month: Month): Promise<void> {
  await sql`delete from ${sql.table(layout.changes)} f where ${isInMonth(layout, month)}`.execute(trx);
}

/** Deletes the columns of a month. The caller holds the lock of the app's totals here, too. */
export async function removeChunks(
  trx: Kysely<DB>,
  { chunks }: ColumnLayout,
  { app_key, month }: Month,
): Promise<void> {
  await sql`delete from ${sql.table(chunks)} where app_key = ${app_key} and month = ${month}`.execute(trx);
}

/** Returns an expression for the number of a row's group, from 0, when rows are sorted by `order`. */
export function groupOf(order: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(row_number() over (order by ${order}) - 1) / ${sql.lit(ROWS_PER_GROUP)}`;
}

interface GroupedRows {
  month: Month;
  /** A relation in which each row has its `row_group`. */
  rows: RawBuilder<unknown>;
}

type Group = Record<string, string>;

async function* readGroups(trx: Kysely<DB>, { columns }: ColumnLayout, { rows }: GroupedRows): AsyncGenerator<Group> {
  const lists = Object.entries(columns).map(
    ([name, column]) => sql`string_agg(coalesce((${column})::text, ''), ',') as ${sql.ref(name)}`,
  );
  const query = sql<Group>`select ${sql.join(lists)} from ${rows} f group by row_group`;
  for await (const groups of readByCursor(trx, query, 1)) yield* groups;
}

/** Adds rows to the chunks of a month, as groups of their own. Returns how many rows there were. */
export async function writeGroups(trx: Kysely<DB>, layout: ColumnLayout, grouped: GroupedRows): Promise<number> {
  const { app_key, month } = grouped.month;
  const table = sql.table(layout.chunks);
  const { rows } = await sql<{ next: number }>`select coalesce(max(row_group) + 1, 0) as next from ${table}
    where app_key = ${app_key} and month = ${month}`.execute(trx);
  let rowGroup = rows[0]!.next;
  let count = 0;
  const names = Object.keys(layout.columns);
  for await (const group of readGroups(trx, layout, grouped)) {
    const chunks: ColumnChunk[] = [];
    for (const name of names) {
      const values = group[name]!.split(',');
      chunks.push(name === 'profile_place' ? encodePlaces(values) : encodeColumn(values));
      // Let requests be answered between two columns: encoding all columns of a group takes over 100 ms.
      await yieldToEventLoop();
    }
    count += chunks[0]!.codes.length;
    await sql`insert into ${table} (app_key, month, row_group, name, dictionary, codes)
      select ${app_key}, ${month}, ${rowGroup}, c.* from unnest(${names}::text[],
        ${chunks.map(({ dictionary }) => dictionary)}::text[], ${chunks.map(({ codes }) => codes)}::text[]) c`.execute(
      trx,
    );
    rowGroup++;
  }
  return count;
}

/** Months whose columns could not be written. They are skipped for a while, so that others of their app come first. */
export type FailedMonths = LRUCache<string, Month>;

const MAX_FAILED = 1_000;
/** A month that failed is skipped for this many times as long as the attempt took, and for at least a minute. */
const FAILED_REST = { times: 9, minMs: 60_000 };

export function createFailedMonths(): FailedMonths {
  return new LRUCache({ max: MAX_FAILED });
}

/** Returns the months that are being skipped now, as a relation `(app_key, month)`. */
export function failedRelation(failed: FailedMonths): RawBuilder<unknown> {
  const months = [...failed.values()];
  return sql`(select * from unnest(
    ${months.map(({ app_key }) => app_key)}::integer[], ${months.map(({ month }) => month)}::integer[]) failed)`;
}

/**
 * Runs `work` on each of these months, except those of apps that another process is working on, and returns how much
 * was done in all. A month that fails does not stop the others, and is remembered as failed.
 */
export async function refreshMonths(
  db: Kysely<DB>,
  { months, failed }: { months: readonly Month[]; failed?: FailedMonths },
  work: (month: Month, connection: Kysely<DB>) => Promise<number>,
): Promise<number> {
  async function refresh(month: Month, connection: Kysely<DB>): Promise<number> {
    const began = performance.now();
    try {
      return await work(month, connection);
    } catch (error) {
      const ttl = Math.max(FAILED_REST.minMs, FAILED_REST.times * (performance.now() - began));
      failed?.set(`${month.app_key} ${month.month}`, month, { ttl });
      throw error;
    }
  }

  let count = 0;
  const steps = createSteps();
  for (const month of months) {
    count += await steps.attempt(
      withTotalsLocked(db, month.app_key, (connection) => refresh(month, connection)),
      0,
    );
  }
  steps.throwFailures();
  return count;
}
