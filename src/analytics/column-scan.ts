// Sums over groups of facts that are kept in columns: which facts count, in which bucket and under which key. Pure. Millions of rows pass
// here for one question, so it goes column by column in plain loops over scratch arrays, and asks of a value once per group, not per row.
import { CODE_OFFSET, ROWS_PER_GROUP } from '../facts/column-chunk.ts';
import { type ColumnName, type Kind, PAGE, readKind } from '../facts/columns.ts';
import type { ColumnSums } from './column-sums.ts';

export interface Scan {
  /** What the dimensions of a fact must be. */
  judges: Partial<Record<ColumnName, (value: string) => boolean>>;
  isCounted: (kind: Kind) => boolean;
  /** The days of the buckets' edges, and the first day that does not count. */
  edges: readonly number[];
  end: number;
  isStock: boolean;
  amount: 'price' | 'monthly' | undefined;
  segment: ColumnName | undefined;
  /** Whether profiles are told apart. */
  profiles: boolean;
}

/** A column of a group: its distinct values, which of them can count, and of every row which it has; '' before that is read. */
export interface Column {
  values: readonly string[];
  passes: Uint8Array;
  codes: string;
}

export type Group = Map<ColumnName, Column>;

/** Columns of which the values alone say whether a fact can count. */
export function listJudged({ judges, isStock }: Scan): ColumnName[] {
  const days = isStock ? (['purchased_day', 'active_until_day'] as const) : (['purchased_day'] as const);
  return ['kind', ...days, ...(Object.keys(judges) as ColumnName[])];
}

function judgeOf({ judges, isCounted, isStock, edges, end }: Scan, name: ColumnName): (value: string) => boolean {
  const first = edges[0]!;
  if (name === 'kind') return (value) => isCounted(readKind(Number(value)));
  if (name === 'purchased_day') return (value) => Number(value) < end && (isStock || Number(value) >= first);
  // What ended before the first bucket was opened and closed before it: nothing.
  if (name === 'active_until_day') return (value) => value === '' || Number(value) >= first;
  return judges[name] ?? (() => true);
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
export function listNeeded(scan: Scan, group: Group): ColumnName[] {
  const { amount, segment, isStock, profiles } = scan;
  const selecting = [...group].filter(([, { passes }]) => passes.includes(0)).map(([name]) => name);
  const others: (ColumnName | undefined)[] = [amount, segment, isStock ? 'active_until_day' : undefined];
  const valued = others.filter((name) => name !== undefined);
  const pages = profiles ? (['profile_page', 'profile_place'] as const) : [];
  return [...new Set<ColumnName>([...selecting, 'kind', 'purchased_day', ...valued, ...pages])];
}

/** More combinations are not counted in an array. */
const MOST_COUNTED = 500_000;

/** Of the group that is being scanned: the places of the rows that count, and of each what it has, as one number; how often each is there. */
const rows = new Int32Array(ROWS_PER_GROUP);
const combined = new Float64Array(ROWS_PER_GROUP);
const counts = new Int32Array(MOST_COUNTED);
/** The different numbers, and their counts. */
const numbers = new Float64Array(ROWS_PER_GROUP);
const times = new Int32Array(ROWS_PER_GROUP);

function selectRows(group: Group): number {
  let count = group.get('kind')!.codes.length;
  for (let i = 0; i < count; i++) rows[i] = i;
  for (const { passes, codes } of group.values()) {
    if (!passes.includes(0)) continue;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      if (passes[codes.charCodeAt(row) - CODE_OFFSET] === 1) rows[kept++] = row;
    }
    count = kept;
  }
  return count;
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

/** A digit of the combined numbers: what rows have in a column, as the place of that in a list. */
interface Digit {
  codes: string;
  /** By the code. */
  places: Int32Array;
  list: readonly number[];
}

function digit({ values, codes }: Column, numberOf: (value: string, code: number) => number): Digit {
  const found = new Map<number, number>();
  const places = Int32Array.from(values, (value, code) => {
    const number = numberOf(value, code);
    if (!found.has(number)) found.set(number, found.size);
    return found.get(number)!;
  });
  return { codes, places, list: [...found.keys()] };
}

/** Where all rows have the same. */
function constant(number: number): Digit {
  return { codes: '', places: new Int32Array(1), list: [number] };
}

/** Counts the selected rows by what they have, into `numbers` and `times`; the first digit is the lowest. How many differ? */
function countCombined(count: number, digits: readonly Digit[]): number {
  combined.fill(0, 0, count);
  let factor = 1;
  for (const { codes, places, list } of digits) {
    if (list.length === 1) continue;
    for (let i = 0; i < count; i++) combined[i]! += factor * places[codes.charCodeAt(rows[i]!) - CODE_OFFSET]!;
    factor *= list.length;
  }
  return factor <= MOST_COUNTED ? countInArray(count) : countInMap(count);
}

function countInArray(count: number): number {
  let different = 0;
  for (let i = 0; i < count; i++) {
    const number = combined[i]!;
    if (counts[number]!++ === 0) numbers[different++] = number;
  }
  for (let i = 0; i < different; i++) {
    times[i] = counts[numbers[i]!]!;
    counts[numbers[i]!] = 0;
  }
  return different;
}

function countInMap(count: number): number {
  const found = new Map<number, number>();
  for (let i = 0; i < count; i++) found.set(combined[i]!, (found.get(combined[i]!) ?? 0) + 1);
  let different = 0;
  for (const [number, often] of found) {
    numbers[different] = number;
    times[different++] = often;
  }
  return different;
}

const NO_AMOUNTS: readonly Float64Array[] = [];

/** Adds what counts of a group. */
export function scanGroup(scan: Scan, group: Group, sums: ColumnSums): void {
  const { edges, end, isStock, amount, segment } = scan;
  const buckets = edges.length - 1;
  const count = selectRows(group);
  if (count === 0) return;
  // What stays open closes after the last bucket.
  const closing = (value: string) => (value === '' || Number(value) >= end ? buckets : bucketOf(edges, Number(value)));
  const of = (name: ColumnName) => group.get(name)!;
  const byCode = (name: ColumnName | undefined) => (name ? digit(of(name), (_, code) => code) : constant(0));
  const digits = [
    digit(of('kind'), (value) => readKind(Number(value)).sign),
    digit(of('purchased_day'), (value) => bucketOf(edges, Number(value))),
    isStock ? digit(of('active_until_day'), closing) : constant(buckets),
    byCode(segment),
    byCode(amount),
  ];
  const keys = segment ? of(segment).values : [''];
  const amounts = amount ? listAmounts(of(amount).values) : NO_AMOUNTS;
  const different = countCombined(count, digits);
  const has = digits.map(() => 0);
  for (let i = 0; i < different; i++) {
    let rest = numbers[i]!;
    for (let d = 0; d < digits.length; d++) {
      const { list } = digits[d]!;
      has[d] = list[rest % list.length]!;
      rest = Math.floor(rest / list.length);
    }
    const [sign, opened, closed, key, code] = has as [number, number, number, number, number];
    if (opened === closed) continue;
    const place = sums.placeOf(keys[key]!);
    sums.add(place, opened, sign * times[i]!, amounts, code);
    if (closed < buckets) sums.add(place, closed, -sign * times[i]!, amounts, code);
  }
}

/** A fact that counts: its profile, its bucket from 0, the number of its key and its sign. */
type TakeFact = (profile: number, bucket: number, key: number, sign: number) => void;

/** Tells every fact of a group that counts; `numberOf` numbers keys. */
export function scanFacts(scan: Scan, group: Group, numberOf: (key: string) => number, take: TakeFact): void {
  const { edges, segment } = scan;
  const count = selectRows(group);
  const of = (name: ColumnName) => group.get(name)!;
  const signs = digit(of('kind'), (value) => readKind(Number(value)).sign);
  const buckets = digit(of('purchased_day'), (value) => bucketOf(edges, Number(value)));
  const keys = segment ? digit(of(segment), numberOf) : undefined;
  const pages = digit(of('profile_page'), Number);
  const has = ({ codes, places, list }: Digit, row: number) => list[places[codes.charCodeAt(row) - CODE_OFFSET]!]!;
  const { codes } = of('profile_place');
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const profile = has(pages, row) * PAGE + codes.charCodeAt(row) - CODE_OFFSET;
    take(profile, has(buckets, row), keys ? has(keys, row) : 0, has(signs, row));
  }
}

const MILLION = 1_000_000n;

/** Amounts by their code, each as whole millions and the rest: both stay exact when millions of them are summed. */
function listAmounts(values: readonly string[]): Float64Array[] {
  const tuples = values.map((tuple) => (tuple === '' ? [0n, 0n, 0n] : tuple.split(':').map(BigInt)));
  return [0, 1, 2].flatMap((i) => [
    Float64Array.from(tuples, (tuple) => Number(tuple[i]! / MILLION)),
    Float64Array.from(tuples, (tuple) => Number(tuple[i]! % MILLION)),
  ]);
}
