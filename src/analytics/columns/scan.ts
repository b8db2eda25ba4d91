// What counts of groups of facts that are kept in columns: in which bucket and which segment.
import type { COLUMNS } from '../../facts/columns.ts';
import type { INSTALL_COLUMNS } from '../../facts/install-columns.ts';
import { type Kind, readKind } from '../../facts/kind.ts';
import { NO_SEGMENT, type Segments } from '../segments.ts';
import type { PayerCounts } from './payer-counts.ts';
import { type Column, constant, countCombined, type Numbers, readCodes, selectRows } from './rows.ts';
import { type Amounts, type ColumnSums, splitAmounts } from './sums.ts';

export type ColumnName = keyof typeof COLUMNS | keyof typeof INSTALL_COLUMNS;

export interface Scan {
  /** The day at which a fact counts. */
  day: 'purchased_day' | 'installed_day';
  /** What the dimensions of a fact must be. */
  judges: Partial<Record<ColumnName, (key: number) => boolean>>;
  isCounted: (kind: Kind) => boolean;
  /** The days of the buckets' edges, and the first day that does not count. */
  edges: readonly number[];
  end: number;
  isStock: boolean;
  amount: 'price' | 'monthly' | undefined;
  /** By which the amounts are multiplied. */
  times: number;
  segment: ColumnName | undefined;
  segmentOf: Segments['segmentOf'];
  /** Whether profiles are told apart. */
  profiles: boolean;
}

export type Group = Map<ColumnName, Column>;

/** Columns of which the values alone say whether a fact can count. */
export function listJudged({ judges, day, isStock }: Scan): ColumnName[] {
  return ['kind', day, ...(isStock ? (['active_until_day'] as const) : []), ...(Object.keys(judges) as ColumnName[])];
}

function judgeOf({ judges, day, isCounted, isStock, edges, end }: Scan, name: ColumnName): (value: string) => boolean {
  const first = edges[0]!;
  if (name === 'kind') return (value) => isCounted(readKind(Number(value)));
  if (name === day) return (value) => Number(value) < end && (isStock || Number(value) >= first);
  // What ended before the first bucket was opened and closed before it: nothing.
  if (name === 'active_until_day') return (value) => value === '' || Number(value) >= first;
  const isAsked = judges[name];
  return (value) => isAsked?.(Number(value)) ?? true;
}

export function judge(scan: Scan, name: ColumnName, dictionary: string): Column {
  const values = dictionary.split(',');
  const passing = judgeOf(scan, name);
  const passes = new Uint8Array(values.length);
  for (let code = 0; code < values.length; code++) passes[code] = Number(passing(values[code]!));
  return { values, passes, codes: '' };
}

/** Whether any fact of a group can count. */
export function canCount(group: Group): boolean {
  return [...group.values()].every(({ passes }) => passes.includes(1));
}

/** Columns whose rows make a difference. */
export function listNeeded({ day, amount, segment, isStock, profiles }: Scan, group: Group): ColumnName[] {
  const selecting = [...group].filter(([, { passes }]) => passes.includes(0)).map(([name]) => name);
  const others: (ColumnName | undefined)[] = [amount, segment, isStock ? 'active_until_day' : undefined];
  const valued = others.filter((name) => name !== undefined);
  const pages = profiles ? (['profile_page', 'profile_place'] as const) : [];
  return [...new Set<ColumnName>([...selecting, 'kind', day, ...valued, ...pages])];
}

/** The bucket of a day, from 0; what was before the first is in it. */
function bucketOf(edges: readonly number[], day: number): number {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= day) low = middle;
    else high = middle;
  }
  return low;
}

/** What facts are added to. */
export interface Into {
  sums: ColumnSums | undefined;
  payers: PayerCounts | undefined;
}

/** Adds what counts of a group. Throws TooMuch. */
export function scanGroup(scan: Scan, group: Group, into: Into): void {
  const { day, edges, segment, segmentOf } = scan;
  const columns = [...group].filter(([, { codes }]) => codes !== '');
  const read = new Map(columns.map(([name, column], i) => [name, { ...column, codes: readCodes(column.codes, i) }]));
  const numbersOf: NumbersOf = (name, numberOf) => {
    const { values, codes } = read.get(name)!;
    const numbers = new Int32Array(values.length);
    for (let code = 0; code < values.length; code++) numbers[code] = numberOf(values[code]!, code);
    return { codes, numbers };
  };
  const rows = {
    selected: selectRows(read.get('kind')!.codes.length, read.values()),
    signs: numbersOf('kind', (value) => readKind(Number(value)).sign),
    buckets: numbersOf(day, (value) => bucketOf(edges, Number(value))),
    segments: segment ? numbersOf(segment, (value) => segmentOf(Number(value))) : constant(NO_SEGMENT),
  };
  const { sums, payers } = into;
  if (sums) sumUp(scan, { ...rows, numbersOf, amounts: readAmounts(scan, group) }, sums);
  if (!payers) return;
  const pages = numbersOf('profile_page', (page) => payers.placeOfPage(Number(page)));
  payers.addRows({ ...rows, pages, places: read.get('profile_place')!.codes });
}

type NumbersOf = (name: ColumnName, numberOf: (value: string, code: number) => number) => Numbers;

/** Rows of a group, that were selected. */
interface Rows {
  selected: Int32Array;
  signs: Numbers;
  buckets: Numbers;
  segments: Numbers;
  numbersOf: NumbersOf;
  amounts: Amounts;
}

function sumUp(scan: Scan, { selected, signs, buckets, segments, numbersOf, amounts }: Rows, sums: ColumnSums): void {
  const { edges, end, isStock, amount } = scan;
  const last = edges.length - 1;
  // What stays open closes after the last bucket.
  const closing = (value: string) => (value === '' || Number(value) >= end ? last : bucketOf(edges, Number(value)));
  const closings = isStock ? numbersOf('active_until_day', closing) : constant(last);
  const codes = amount ? numbersOf(amount, (_, code) => code) : constant(0);
  countCombined(selected, [signs, buckets, closings, codes, segments], (has, count) => {
    const [sign, from, to, code, segment] = has as [number, number, number, number, number];
    if (from === to) return;
    sums.add(segment, from, sign * count, amounts, code);
    if (to < last) sums.add(segment, to, -sign * count, amounts, code);
  });
}

/** The amounts of facts by the codes of their column; without one, what a fact counts. */
function readAmounts({ amount, times }: Scan, group: Group): Amounts {
  const tuples = amount && group.get(amount)!.values.map((tuple) => (tuple || '0:0:0').split(':'));
  return splitAmounts(tuples ?? [['1']], times);
}
