// Scans groups of facts that are kept in columns: which facts count, in which bucket and in which segment.
import type { FACT_COLUMNS } from '../../facts/columns.ts';
import type { INSTALL_COLUMNS } from '../../facts/install-columns.ts';
import { type Kind, readKind } from '../../facts/kind.ts';
import { NO_SEGMENT, type Segments } from '../segments.ts';
import { type Column, constant, countCombined, type Numbers, readCodes, selectRows } from './group-rows.ts';
import { BEFORE, bucketAt, bucketUntil, joinBuckets } from './moments.ts';
import type { PayerCounts } from './payer-counts.ts';
import { type Amounts, type ColumnSums, splitAmounts } from './sums.ts';

export type ColumnName = keyof typeof FACT_COLUMNS | keyof typeof INSTALL_COLUMNS;

export interface Scan {
  /** The moment at which a fact counts. */
  at: 'purchased' | 'installed';
  /** The filters, by column: whether a fact with this key can count. */
  keyTests: Partial<Record<ColumnName, (key: number) => boolean>>;
  isCounted: (kind: Kind) => boolean;
  /** The first of the app's days on which anything can count, and the day after the last. */
  days: { first: number; end: number };
  /** The buckets' edges, as days or as quarters of an hour. */
  edges: readonly number[];
  byQuarter: boolean;
  isStock: boolean;
  amount: 'price' | 'monthly' | undefined;
  /** The factor by which amounts are multiplied. */
  times: number;
  segment: ColumnName | undefined;
  segmentOf: Segments['segmentOf'];
  /** Whether distinct profiles are counted. */
  countsProfiles: boolean;
}

export type Group = Map<ColumnName, Column>;

/** Lists the columns whose values alone may show that no fact of a group can count. */
export function listTested({ keyTests, at, isStock }: Scan): ColumnName[] {
  return [
    'kind',
    `${at}_day`,
    ...(isStock ? (['active_until_day'] as const) : []),
    ...(Object.keys(keyTests) as ColumnName[]),
  ];
}

function testOf({ keyTests, at, isCounted, isStock, days }: Scan, name: ColumnName): (value: string) => boolean {
  const { first, end } = days;
  if (name === 'kind') return (value) => isCounted(readKind(Number(value)));
  if (name === `${at}_day`) return (value) => Number(value) < end && (isStock || Number(value) >= first);
  // A fact that ended before the first bucket both opened and closed before it, and so counts nothing.
  if (name === 'active_until_day') return (value) => value === '' || Number(value) >= first;
  const keyTest = keyTests[name];
  return (value) => keyTest?.(Number(value)) ?? true;
}

export function testValues(scan: Scan, name: ColumnName, dictionary: string): Column {
  const values = dictionary.split(',');
  const test = testOf(scan, name);
  const passes = new Uint8Array(values.length);
  for (let code = 0; code < values.length; code++) passes[code] = Number(test(values[code]!));
  return { values, passes, codes: '' };
}

/** Whether any fact of a group can count. */
export function canCount(group: Group): boolean {
  return [...group.values()].every(({ passes }) => passes.includes(1));
}

/** Lists the columns whose rows make a difference. */
export function listNeeded(
  { at, byQuarter, amount, segment, isStock, countsProfiles }: Scan,
  group: Group,
): ColumnName[] {
  const selecting = [...group].filter(([, { passes }]) => passes.includes(0)).map(([name]) => name);
  const moments = [at, ...(isStock ? (['active_until'] as const) : [])].flatMap((name) =>
    byQuarter ? ([`${name}_day`, `${name}_quarter`] as const) : [`${name}_day` as const],
  );
  const valued = [amount, segment].filter((name) => name !== undefined);
  const pages = countsProfiles ? (['profile_page', 'profile_place'] as const) : [];
  return [...new Set<ColumnName>([...selecting, 'kind', ...moments, ...valued, ...pages])];
}

/** Where scanned facts are added. */
export interface ScanTarget {
  sums: ColumnSums | undefined;
  payers: PayerCounts | undefined;
}

/** Adds the facts of a group that count. Throws TooMuchToHold. */
export function scanGroup(scan: Scan, group: Group, target: ScanTarget): void {
  const { segment, segmentOf } = scan;
  const columns = [...group].filter(([, { codes }]) => codes !== '');
  const read: ReadColumns = new Map(
    columns.map(([name, column], i) => [name, { ...column, codes: readCodes(column.codes, i) }]),
  );
  const numbersOf: NumbersOf = (name, numberOf) => {
    const { values, codes } = read.get(name)!;
    const numbers = new Int32Array(values.length);
    for (let code = 0; code < values.length; code++) numbers[code] = numberOf(values[code]!, code);
    return { codes, numbers };
  };
  const buckets = openingsOf(scan, read, numbersOf);
  const inSpan = {
    codes: buckets.codes,
    passes: Uint8Array.from(buckets.numbers, (bucket) => Number(bucket !== BEFORE && bucket < lastOf(scan))),
  };
  const rows = {
    selected: selectRows(read.get('kind')!.codes.length, [...read.values(), inSpan]),
    signs: numbersOf('kind', (value) => readKind(Number(value)).sign),
    buckets,
    segments: segment ? numbersOf(segment, (value) => segmentOf(Number(value))) : constant(NO_SEGMENT),
  };
  const { sums, payers } = target;
  if (sums) {
    const closings = scan.isStock ? closingsOf(scan, read, numbersOf) : constant(lastOf(scan));
    sumUp(scan, { ...rows, closings, numbersOf, amounts: readAmounts(scan, group) }, sums);
  }
  if (!payers) return;
  const pages = numbersOf('profile_page', (page) => payers.placeOfPage(Number(page)));
  payers.addRows({ ...rows, pages, places: read.get('profile_place')!.codes });
}

type ReadColumns = Map<ColumnName, Omit<Column, 'codes'> & { codes: Uint16Array }>;

/** Returns the number after that of the last bucket. */
function lastOf({ edges }: Scan): number {
  return edges.length - 1;
}

/**
 * Returns the buckets in which facts count or, for a stock, open. By quarter there are also moments before the first
 * bucket and after the last, which the days did not rule out.
 */
function openingsOf(scan: Scan, read: ReadColumns, numbersOf: NumbersOf): Numbers {
  const { at, edges, byQuarter, isStock } = scan;
  if (!byQuarter) return numbersOf(`${at}_day`, (value) => bucketAt(edges, Number(value)));
  const last = lastOf(scan);
  return joinBuckets({
    days: read.get(`${at}_day`)!,
    quarters: read.get(`${at}_quarter`)!,
    bucketOfQuarter: (quarter) => (quarter < edges[0]! && !isStock ? BEFORE : bucketUntil(edges, quarter)),
    last,
    place: read.size,
  });
}

/** Returns the buckets in which the facts of a stock close. Those that stay open close after the last bucket. */
function closingsOf(scan: Scan, read: ReadColumns, numbersOf: NumbersOf): Numbers {
  const { edges, byQuarter, days } = scan;
  const last = lastOf(scan);
  const isOpen = (day: string) => day === '' || Number(day) >= days.end;
  if (!byQuarter) return numbersOf('active_until_day', (day) => (isOpen(day) ? last : bucketAt(edges, Number(day))));
  return joinBuckets({
    days: read.get('active_until_day')!,
    quarters: read.get('active_until_quarter')!,
    bucketOfQuarter: (quarter) => bucketUntil(edges, quarter),
    bucketOfDay: (day) => (isOpen(day) ? last : undefined),
    last,
    place: read.size + 1,
  });
}

type NumbersOf = (name: ColumnName, numberOf: (value: string, code: number) => number) => Numbers;

/** The selected rows of a group. */
interface Rows {
  selected: Int32Array;
  signs: Numbers;
  buckets: Numbers;
  closings: Numbers;
  segments: Numbers;
  numbersOf: NumbersOf;
  amounts: Amounts;
}

function sumUp(
  scan: Scan,
  { selected, signs, buckets, closings, segments, numbersOf, amounts }: Rows,
  sums: ColumnSums,
): void {
  const { amount } = scan;
  const last = lastOf(scan);
  const codes = amount ? numbersOf(amount, (_, code) => code) : constant(0);
  countCombined(selected, [signs, buckets, closings, codes, segments], (has, count) => {
    const [sign, from, to, code, segment] = has as [number, number, number, number, number];
    if (from === to) return;
    sums.add(segment, from, sign * count, amounts, code);
    if (to < last) sums.add(segment, to, -sign * count, amounts, code);
  });
}

/**
 * Returns the amounts of facts, times the factor, by the codes of their column. Without such a column there is a single
 * code, with the amount 1.
 */
function readAmounts({ amount, times }: Scan, group: Group): Amounts {
  const tuples = amount && group.get(amount)!.values.map((tuple) => (tuple || '0:0:0').split(':'));
  return splitAmounts(tuples ?? [['1']], times);
}
