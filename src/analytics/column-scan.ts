// Sums over groups of facts that are kept in columns: which rows count, in which bucket and under which key. Pure.
import { codeAt, readDictionary } from '../facts/column-chunk.ts';
import { type ColumnName, type Kind, readKind } from '../facts/columns.ts';
import type { ColumnSums } from './column-sums.ts';

/** The columns of a group that the question needs. */
export type Group = ReadonlyMap<ColumnName, { dictionary: string; codes: string }>;

export interface Scan {
  /** What a fact must be. */
  judges: Partial<Record<ColumnName, (value: string) => boolean>>;
  isCounted: (kind: Kind) => boolean;
  /** The days of the buckets' edges, and the first day that does not count. */
  edges: readonly number[];
  end: number;
  isStock: boolean;
  amount: 'price' | 'monthly' | undefined;
  segment: ColumnName | undefined;
}

/** Columns of which the values alone say whether a fact can count. */
export function listJudged({ judges, isStock }: Scan): ColumnName[] {
  return [
    ...(Object.keys(judges) as ColumnName[]),
    'kind',
    'purchased_day',
    ...(isStock ? (['active_until_day'] as const) : []),
  ];
}

export function listNeeded(scan: Scan): ColumnName[] {
  const { amount, segment } = scan;
  return [...new Set([...listJudged(scan), ...(amount ? [amount] : []), ...(segment ? [segment] : [])])];
}

function judgeOf({ judges, isCounted, isStock, edges, end }: Scan, name: ColumnName): (value: string) => boolean {
  const first = edges[0]!;
  if (name === 'kind') return (value) => isCounted(readKind(Number(value)));
  if (name === 'purchased_day') return (value) => Number(value) < end && (isStock || Number(value) >= first);
  // What ended before the first bucket was opened and closed before it: nothing.
  if (name === 'active_until_day') return (value) => value === '' || Number(value) >= first;
  return judges[name]!;
}

/** Whether any fact of a group can count. */
export function canCount(scan: Scan, dictionaries: ReadonlyMap<ColumnName, string>): boolean {
  return listJudged(scan).every((name) => readDictionary(dictionaries.get(name)!).some(judgeOf(scan, name)));
}

/** A number for each value of a column, found by its code. */
function tableOf(dictionary: string, of: (value: string) => number): Float64Array {
  return Float64Array.from(readDictionary(dictionary), of);
}

function selectRows(scan: Scan, group: Group): Int32Array {
  let rows = Int32Array.from({ length: group.get('kind')!.codes.length }, (_, row) => row);
  for (const name of listJudged(scan)) {
    const { dictionary, codes } = group.get(name)!;
    const passes = tableOf(dictionary, (value) => Number(judgeOf(scan, name)(value)));
    if (!passes.includes(0)) continue;
    let kept = 0;
    for (const row of rows) if (passes[codeAt(codes, row)] === 1) rows[kept++] = row;
    rows = rows.subarray(0, kept);
  }
  return rows;
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

/** Adds what counts of a group. */
export function scanGroup(scan: Scan, group: Group, sums: ColumnSums): void {
  const { edges, end, isStock, amount, segment } = scan;
  const rows = selectRows(scan, group);
  const table = (name: ColumnName, of: (value: string) => number) => {
    const { dictionary, codes } = group.get(name)!;
    const numbers = tableOf(dictionary, of);
    return (row: number) => numbers[codeAt(codes, row)]!;
  };
  const signOf = table('kind', (value) => readKind(Number(value)).sign);
  const openedIn = table('purchased_day', (value) => bucketOf(edges, Number(value)));
  // Of stocks: the bucket in which a fact closes; one more than there are if it stays open.
  const closedIn = isStock
    ? table('active_until_day', (value) =>
        value === '' || Number(value) >= end ? edges.length - 1 : bucketOf(edges, Number(value)),
      )
    : () => edges.length - 1;
  const keyOf = segment ? table(segment, (value) => sums.indexOf(value)) : () => sums.indexOf('');
  const amountOf = amount ? amounts(group.get(amount)!.dictionary) : undefined;
  const amountCodes = amount ? group.get(amount)!.codes : '';
  for (const row of rows) {
    const [sign, key, opened, closed] = [signOf(row), keyOf(row), openedIn(row), closedIn(row)];
    if (opened === closed) continue;
    const code = amountOf ? codeAt(amountCodes, row) : 0;
    sums.add(key, opened, sign, amountOf, code);
    if (closed < edges.length - 1) sums.add(key, closed, -sign, amountOf, code);
  }
}

const MILLION = 1_000_000n;

/** Amounts by their code, each as whole millions and the rest: both stay exact when millions of them are summed. */
function amounts(dictionary: string): Float64Array[] {
  const tuples = readDictionary(dictionary).map((tuple) => (tuple === '' ? [] : tuple.split(':').map(BigInt)));
  return [0, 1, 2].flatMap((i) => [
    Float64Array.from(tuples, (tuple) => Number((tuple[i] ?? 0n) / MILLION)),
    Float64Array.from(tuples, (tuple) => Number((tuple[i] ?? 0n) % MILLION)),
  ]);
}
