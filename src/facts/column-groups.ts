// What the columns of facts and of installs have in common. Rows are written by column: cut into groups of some order, and of each group a
// chunk per column. One group is in memory at a time.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { readByCursor } from '../db/cursor.ts';
import type { DB } from '../db/types.ts';
import { DAY_MS } from '../lib/datetime.ts';
import { giveWay } from '../lib/slices.ts';
import { createSteps } from '../lib/steps.ts';
import { type ColumnChunk, encodeColumn, encodePlaces, ROWS_PER_GROUP } from './column-chunk.ts';
import { withTotalsLocked } from './totals.ts';

/** Once more rows were appended than this share of what a month had at first, its columns are made anew. */
export const MOST_APPENDED = 0.5;

/** A month of an app, by its first day in days since 1970. */
export interface Month {
  app_key: number;
  month: number;
  /** Whether it has columns to which the changes can be appended: they would still be mostly as they were made. */
  has_room: boolean;
}

/** What is kept by column, and where. */
export interface Keeper {
  /** Tells in which month a row is kept. */
  day: 'purchased_day' | 'installed_day';
  /** Images of what changed since; whoever uses them deletes them. */
  changes: 'fact_column_change' | 'install_column_change';
  chunks: 'fact_column_chunk' | 'install_column_chunk';
  /** What of a row `f` is kept, as text. */
  columns: Readonly<Record<string, RawBuilder<unknown>>>;
}

/** The first day of the next month. */
export function monthAfter(month: number): number {
  const date = new Date(month * DAY_MS);
  return date.setUTCMonth(date.getUTCMonth() + 1) / DAY_MS;
}

/** Of rows `f`: whether they are the app's, and their day is of the month. */
export function ofMonth({ day }: Keeper, { app_key, month }: Month): RawBuilder<unknown> {
  const name = sql.ref(`f.${day}`);
  return sql`f.app_key = ${app_key} and ${name} >= ${month} and ${name} < ${monthAfter(month)}`;
}

/** The changes of a month. */
export function selectChanges(keeper: Keeper, month: Month): RawBuilder<unknown> {
  return sql`select * from ${sql.table(keeper.changes)} f where ${ofMonth(keeper, month)}`;
}

/** Deletes the changes of a month. As for `removeChunks`, the caller has the app's totals locked (`withTotalsLocked`). */
export async function removeChanges(trx: Kysely<DB>, keeper: Keeper, month: Month): Promise<void> {
  await sql`delete from ${sql.table(keeper.changes)} f where ${ofMonth(keeper, month)}`.execute(trx);
}

/** Drops the columns of a month. */
export async function removeChunks(trx: Kysely<DB>, { chunks }: Keeper, { app_key, month }: Month): Promise<void> {
  await sql`delete from ${sql.table(chunks)} where app_key = ${app_key} and month = ${month}`.execute(trx);
}

/** The number of a row's group, from 0. */
export function groupOf(order: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(row_number() over (order by ${order}) - 1) / ${sql.lit(ROWS_PER_GROUP)}`;
}

interface Written {
  month: Month;
  /** A relation, each row with its `row_group`. */
  rows: RawBuilder<unknown>;
}

type Group = Record<string, string>;

async function* readGroups(trx: Kysely<DB>, { columns }: Keeper, { rows }: Written): AsyncGenerator<Group> {
  const lists = Object.entries(columns).map(
    ([name, column]) => sql`string_agg(coalesce((${column})::text, ''), ',') as ${sql.ref(name)}`,
  );
  const query = sql<Group>`select ${sql.join(lists)} from ${rows} f group by row_group`;
  for await (const groups of readByCursor(trx, query, 1)) yield* groups;
}

/** Adds rows to the chunks of a month, as groups of their own; how many rows it was. */
export async function writeGroups(trx: Kysely<DB>, keeper: Keeper, written: Written): Promise<number> {
  const { app_key, month } = written.month;
  const table = sql.table(keeper.chunks);
  const { rows } = await sql<{ next: number }>`select coalesce(max(row_group) + 1, 0) as next from ${table}
    where app_key = ${app_key} and month = ${month}`.execute(trx);
  let rowGroup = rows[0]!.next;
  let count = 0;
  const names = Object.keys(keeper.columns);
  for await (const group of readGroups(trx, keeper, written)) {
    const chunks: ColumnChunk[] = [];
    for (const name of names) {
      const values = group[name]!.split(',');
      chunks.push(name === 'profile_place' ? encodePlaces(values) : encodeColumn(values));
      // Requests are answered between two columns: those of a whole group take over 100 ms.
      await giveWay();
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

/** Months whose columns could not be made, which are left alone for a while: others of their app come first. */
export type FailedMonths = LRUCache<string, Month>;

const MOST_FAILED = 1_000;
/** A month that failed is left alone for so many times as long as it took, and for a minute at least. */
const FAILED_REST = { times: 9, leastMs: 60_000 };

export function createFailedMonths(): FailedMonths {
  return new LRUCache({ max: MOST_FAILED });
}

/** Those that are left alone now, as a relation `(app_key, month)`. */
export function failedRelation(failed: FailedMonths): RawBuilder<unknown> {
  const months = [...failed.values()];
  return sql`(select * from unnest(
    ${months.map(({ app_key }) => app_key)}::integer[], ${months.map(({ month }) => month)}::integer[]) failed)`;
}

/**
 * Runs `work` on each of these months, except of apps that another process is working on; how much was done in all. One that fails stops none
 * of the others, and is remembered as failed.
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
      const ttl = Math.max(FAILED_REST.leastMs, FAILED_REST.times * (performance.now() - began));
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
