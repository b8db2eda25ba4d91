// The cells of a query that was summed up in the process. Segments come in the order of the answer; those that rank
// too low are combined as "other".
import { toMicros } from '../../lib/money.ts';
import { inSlices } from '../../lib/slices.ts';
import { unitOf } from '../catalogue.ts';
import { CELLS_AT_ONCE, type Cell } from '../cells.ts';
import { type ChartQuery, countPoints } from '../request.ts';
import { sortSegments } from '../segment-order.ts';
import { NO_SEGMENT } from '../segments.ts';
import type { PayerCount, PayerCounts } from './payer-counts.ts';
import type { ColumnSums } from './sums.ts';

/** The sums of one span. */
export interface SummedSpan {
  index: Cell['span'];
  entries: ColumnSums;
  installs: ColumnSums;
  payers: PayerCounts | undefined;
}

interface Segments {
  /** The values of segments, by number. */
  segments: readonly string[];
  maxSeries: number;
}

type Shown = Pick<Cell, 'place' | 'segment'>;

export async function listCells(
  query: ChartQuery,
  spans: readonly SummedSpan[],
  { segments, maxSeries }: Segments,
): Promise<Cell[]> {
  const seen = new Set(spans.flatMap(({ entries, installs }) => [...entries.listSeen(), ...installs.listSeen()]));
  seen.delete(NO_SEGMENT);
  const named = [...seen].map((number) => ({ number, segment: segments[number]! }));
  const ranked = await sortSegments(named, shownBy(query, spans));
  const kept = ranked.length < maxSeries ? ranked : ranked.slice(0, maxSeries - 2);
  const others = ranked.slice(kept.length);
  const numbersOf = (some: typeof ranked) => some.map(({ number }) => number);
  const cells: Cell[] = [];
  for (const summed of spans) {
    const payers = summed.payers?.count(numbersOf(kept));
    const add = (shown: Shown, segments: readonly number[] | undefined, count: PayerCount | undefined) => {
      cells.push(...cellsOf(summed, shown, segments), ...payerCellsOf(summed.index, shown, count));
    };
    add({ place: 'total', segment: '' }, undefined, payers?.all);
    await inSlices(kept, Math.ceil(CELLS_AT_ONCE / Math.max(countPoints(query), 1)), ({ number, segment }, i) => {
      add({ place: 'segment', segment }, [number], payers?.each[i]);
    });
    if (others.length > 0) add({ place: 'other', segment: '' }, numbersOf(others), payers?.others);
  }
  return cells;
}

/** Returns a function that gives the value shown for a segment, by its number, over the main range. */
function shownBy(query: ChartQuery, spans: readonly SummedSpan[]): (segment: { number: number }) => bigint {
  const main = spans.find(({ index }) => index === 0);
  const isSplit = query.chart.kind === 'ratio' && query.segmentation?.ofInstalls;
  const perOf = (number: number) => {
    if (main?.payers) return BigInt(main.payers.payersOf(number));
    return isSplit ? main?.installs.total(number) : 1n;
  };
  return ({ number }) => {
    const sum = main?.entries.total(number) ?? 0n;
    return unitOf(query.chart) === 'USD' ? toMicros(sum, perOf(number)) : sum;
  };
}

/** Returns the cells of these segments together, or of everything if `segments` is undefined. */
function cellsOf(
  { index, entries, installs }: SummedSpan,
  shown: Shown,
  segments: readonly number[] | undefined,
): Cell[] {
  const sides = [['entries', entries] as const, ['per', installs] as const];
  return sides.flatMap(([side, summed]) =>
    // The spread comes last: Node.js 20 takes a microsecond for each property that is added after a spread.
    summed.sumUp(segments).map(({ bucket, sums }) => ({ side, span: index, bucket: bucket + 1, sums, ...shown })),
  );
}

/** Returns the cells of distinct payers. */
function payerCellsOf(span: Cell['span'], shown: Shown, count: PayerCount | undefined): Cell[] {
  if (!count) return [];
  const { buckets, range } = count;
  return [...buckets, range].map((payers, i) => ({
    side: 'per',
    span,
    bucket: i < buckets.length ? i + 1 : null,
    sums: [BigInt(payers)],
    ...shown,
  }));
}
