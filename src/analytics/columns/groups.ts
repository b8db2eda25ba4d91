// Reads the facts for a query from columns, month by month, and only those groups in which any fact can count.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../db/types.ts';
import { monthAfter } from '../../facts/column-groups.ts';
import { KIND_IS } from '../../facts/kind.ts';
import { toQuarters } from '../../facts/quarters.ts';
import { yieldToEventLoop } from '../../lib/slices.ts';
import { appDaysOf, appToday } from '../app-days.ts';
import type { Entries } from '../entries.ts';
import { listKeys } from '../filter-keys.ts';
import { MAX_KEYS, type Segments } from '../segments.ts';
import { type Source, segmentationOf } from '../sources.ts';
import {
  type ColumnName,
  canCount,
  type Group,
  listNeeded,
  listTested,
  type Scan,
  type ScanTarget,
  testValues,
} from './scan.ts';
import { TooMuchToHold } from './sums.ts';

/** Lists the months, of purchase or of install, that are kept in columns and whose facts can count. */
export function listMonths(source: Source, { of, until }: Entries): number[] {
  const { first, end } = appDaysOf(source);
  return source.state.months[of].filter((month) => month < end && (until !== undefined || monthAfter(month) > first));
}

/** Whether columns have entries of this kind for any of the days of the query. */
export function isInColumns(source: Source, entries: Entries): boolean {
  const { at, until } = entries;
  const { inAppZone, dateType } = source.query;
  const hasEdges = inAppZone || toQuarters(source.span.instants) !== undefined;
  const isPurchase = at === 'purchased' && (until === undefined || until === 'active_until');
  const isKept = at === 'installed' || (isPurchase && dateType === 'purchase_date');
  return source.state.usesTotals && hasEdges && isKept && listMonths(source, entries).length > 0;
}

/** Decides what is scanned and how it counts. Throws TooMuchToHold if a filter has too many keys. */
export async function planScan(
  db: Kysely<DB>,
  source: Source,
  { entries, segments, target }: { entries: Entries; segments: Segments; target: ScanTarget },
): Promise<Scan> {
  const { of, where, until, amount, times } = entries;
  const { query, span, filters } = source;
  const segmentation = segmentationOf(query, entries);
  const days = appDaysOf(source);
  const keyTests: Scan['keyTests'] = {};
  for (const filter of filters) {
    const keys = new Set(await listKeys(db, filter, MAX_KEYS));
    if (keys.size === MAX_KEYS) throw new TooMuchToHold();
    const { column } = filter.dimension.home;
    const others = keyTests[column];
    keyTests[column] = (key) => keys.has(key) && (others?.(key) ?? true);
  }
  return {
    keyTests,
    isCounted: (kind) => where.every((name) => KIND_IS[name](kind)),
    at: of === 'install' ? 'installed' : 'purchased',
    days: { first: days.first, end: Math.min(days.end, appToday(query)) },
    edges: query.inAppZone ? span.days : toQuarters(span.instants)!,
    byQuarter: !query.inAppZone,
    isStock: until !== undefined,
    amount: amount === 'one' || !target.sums ? undefined : amount,
    times,
    segment: segmentation?.home.column,
    segmentOf: segments.segmentOf,
    countsProfiles: target.payers !== undefined,
  };
}

interface Chunk {
  row_group: number;
  name: ColumnName;
  dictionary: string;
}

const CHUNKS = { transaction: 'fact_column_chunk', install: 'install_column_chunk' } as const;

interface Reading {
  entries: Entries;
  scan: Scan;
  signal: AbortSignal;
  /** Other work for the connection. Whenever it would be idle, the first item is taken from the list and started. */
  meanwhile: (() => Promise<void>)[];
}

/**
 * Yields the groups of facts of these entries that can count. While those of one month are being scanned, the next
 * month is being read.
 */
export async function* listGroups(db: Kysely<DB>, source: Source, reading: Reading): AsyncGenerator<Group> {
  const { entries, signal, meanwhile } = reading;
  const months = listMonths(source, entries);
  let free: Promise<unknown> = Promise.resolve();
  const read = (month: number) => {
    const groups = free.then(() => readGroups(db, source, { ...reading, month }));
    free = groups.then(() => meanwhile.shift()?.());
    // Keeps a failure from counting as unhandled: whoever awaits `free` gets it.
    free.catch(() => undefined);
    return groups;
  };
  try {
    let next = read(months[0]!);
    for (let i = 1; i <= months.length; i++) {
      signal.throwIfAborted();
      const groups = await next;
      if (i < months.length) next = read(months[i]!);
      for (const group of groups) {
        yield group;
        await yieldToEventLoop();
      }
    }
    await free;
  } finally {
    // The connection must be free again when this generator has ended.
    await free.catch(() => undefined);
  }
}

/**
 * Reads the groups of a month in which facts can count. It first reads and tests the values of columns, then reads the
 * rows of the columns that make a difference.
 */
async function readGroups(
  db: Kysely<DB>,
  { app }: Source,
  { scan, entries, month }: Reading & { month: number },
): Promise<Group[]> {
  const table = sql.table(CHUNKS[entries.of]);
  const ofMonth = sql`c.app_key = ${app.app_key} and c.month = ${month}`;
  const { rows: tested } = await sql<Chunk>`select row_group, name, dictionary from ${table} c
    where ${ofMonth} and name = any(${listTested(scan)}::text[])`.execute(db);
  const groups = new Map<number, Group>();
  for (const { row_group, name, dictionary } of tested) {
    const group = groups.get(row_group) ?? new Map();
    groups.set(row_group, group.set(name, testValues(scan, name, dictionary)));
  }
  const needed = [...groups].flatMap(([row_group, group]) =>
    canCount(group) ? listNeeded(scan, group).map((name) => ({ row_group, name, isTested: group.has(name) })) : [],
  );
  if (needed.length === 0) return [];
  const { rows: chunks } = await sql<Chunk & { codes: string }>`
    select row_group, name, case when n.is_tested then '' else c.dictionary end as dictionary, c.codes
    from unnest(${needed.map((one) => one.row_group)}::integer[], ${needed.map((one) => one.name)}::text[],
      ${needed.map((one) => one.isTested)}::boolean[]) as n (row_group, name, is_tested)
    join ${table} c using (row_group, name) where ${ofMonth}`.execute(db);
  for (const { row_group, name, dictionary, codes } of chunks) {
    const group = groups.get(row_group)!;
    group.set(name, { ...(group.get(name) ?? testValues(scan, name, dictionary)), codes });
  }
  return [...groups.values()].filter(canCount);
}
