// Assembles cells into series: the total, the segments in order, and "other" for those that ranked too low. Figures
// stay exact: counts, or whole 10^-6 USD.
import { toMicros } from '../lib/money.ts';
import { inSlices, SLICE } from '../lib/slices.ts';
import { countBuckets, type Span } from './calendar.ts';
import { dividesBy, metricKeysOf, unitOf } from './catalogue.ts';
import type { Cell } from './cells.ts';
import { type ChartQuery, countPoints } from './request.ts';
import { sortSegments } from './segment-order.ts';

/** A series under one key over one span. */
export interface Line {
  /** The value of the whole range. */
  value: bigint;
  /** Per bucket. */
  values: bigint[];
  /** The numerator and denominator over the range; null unless the chart is a ratio. */
  ratio: { numerator: bigint; denominator: bigint } | null;
}

export interface Series {
  place: Cell['place'];
  segment: string;
  /** Per key of the chart. */
  lines: { main: Line; compared: Line | null }[];
}

/** The sums of a series over one span, per key and bucket, and what they are divided by. */
interface Sums {
  entries: bigint[][];
  per: bigint[];
  /** The denominator of the range, if it is not the sum of those of the buckets. */
  perWhole: bigint | null;
}

type Group = Pick<Series, 'place' | 'segment'> & { spans: Map<Cell['span'], Sums> };

/**
 * Returns the series in the order of the answer: the total, the segments, and "other" last. Works in slices, as a CSV
 * may have a million points.
 */
export async function assembleSeries(query: ChartQuery, cells: readonly Cell[]): Promise<Series[]> {
  const total = newGroup(query, { place: 'total', segment: '' });
  const groups = new Map([['total:', total]]);
  await inSlices(cells, SLICE, (cell) => {
    const name = `${cell.place}:${cell.segment}`;
    const group = groups.get(name) ?? newGroup(query, cell);
    groups.set(name, group);
    addCell(group.spans.get(cell.span)!, cell);
  });
  const { chart, segmentation } = query;
  const isUnsplit = dividesBy(chart, 'installs') && segmentation?.ofInstalls === false;
  const series: Series[] = [];
  const atOnce = Math.ceil(SLICE / Math.max(countPoints(query), 1));
  await inSlices([...groups.values()], atOnce, ({ place, segment, spans }) => {
    const lineOf = (span: Cell['span'], key: number) => {
      const sums = spans.get(span);
      return sums ? computeLine(query, sums, { key, per: isUnsplit ? total.spans.get(span)! : sums }) : null;
    };
    const lines = metricKeysOf(chart).map((_, key) => ({ main: lineOf(0, key)!, compared: lineOf(1, key) }));
    series.push({ place, segment, lines });
  });
  const of = (place: Cell['place']) => series.filter((one) => one.place === place);
  return [...of('total'), ...(await sortSegments(of('segment'), ({ lines }) => lines[0]!.main.value)), ...of('other')];
}

function newGroup(query: ChartQuery, { place, segment }: Pick<Series, 'place' | 'segment'>): Group {
  const spans: Group['spans'] = new Map([[0, zeroSums(query, query.span)]]);
  if (query.compared) spans.set(1, zeroSums(query, query.compared));
  return { place, segment, spans };
}

function zeroSums({ chart }: ChartQuery, span: Span): Sums {
  const zeros = () => new Array<bigint>(countBuckets(span)).fill(0n);
  return { entries: metricKeysOf(chart).map(zeros), per: zeros(), perWhole: null };
}

function addCell(sums: Sums, { side, bucket, sums: values }: Cell): void {
  if (bucket === null) sums.perWhole = values[0]!;
  else if (side === 'per') sums.per[bucket - 1] = values[0]!;
  else for (const [key, value] of values.entries()) sums.entries[key]![bucket - 1] = value;
}

function computeLine(query: ChartQuery, { entries }: Sums, { key, per }: { key: number; per: Sums }): Line {
  const { chart, dateType } = query;
  const isMoney = unitOf(chart) === 'USD';
  const show = (sum: bigint, count?: bigint) => (isMoney ? toMicros(sum, count) : sum);
  const sums = entries[key]!;
  if (chart.kind === 'ratio') {
    const [whole, denominator] = [sumOf(sums), per.perWhole ?? sumOf(per.per)];
    const values = sums.map((sum, i) => show(sum, per.per[i]));
    return { value: show(whole, denominator), values, ratio: { numerator: show(whole), denominator } };
  }
  const isOfChanges = chart.kind === 'stock' && dateType === 'purchase_date';
  const values = isOfChanges ? accumulate(sums) : sums;
  const whole = isOfChanges ? (values.at(-1) ?? 0n) : sumOf(sums);
  return { value: show(whole), values: values.map((sum) => show(sum)), ratio: null };
}

function sumOf(sums: readonly bigint[]): bigint {
  return sums.reduce((sum, one) => sum + one, 0n);
}

function accumulate(changes: readonly bigint[]): bigint[] {
  let state = 0n;
  return changes.map((change) => {
    state += change;
    return state;
  });
}
