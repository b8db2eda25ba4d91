// The cells of a question that was summed up in the process: segments ranked as the answer does, by the value shown under the first key,
// then by code point; what ranks too low is "other".
import { compareCodePoints } from '../../lib/code-points.ts';
import { toMicros } from '../../lib/money.ts';
import { unitOf } from '../catalogue.ts';
import type { Cell } from '../cells.ts';
import type { ChartQuery } from '../request.ts';
import { NO_SEGMENT } from '../segments.ts';
import type { PayerCount, PayerCounts } from './payer-counts.ts';
import type { ColumnSums } from './sums.ts';

/** What was summed up of a span. */
export interface SummedPart {
  index: Cell['span'];
  entries: ColumnSums;
  installs: ColumnSums;
  payers: PayerCounts | undefined;
}

interface Shown {
  /** The values of segments by their numbers. */
  segments: readonly string[];
  mostSeries: number;
}

export function listCells(query: ChartQuery, parts: readonly SummedPart[], { segments, mostSeries }: Shown): Cell[] {
  const seen = new Set(parts.flatMap(({ entries, installs }) => [...entries.listSeen(), ...installs.listSeen()]));
  seen.delete(NO_SEGMENT);
  const ranked = rank(
    query,
    parts,
    [...seen].map((segment) => ({ segment, text: segments[segment]! })),
  );
  const kept = ranked.length < mostSeries ? ranked : ranked.slice(0, mostSeries - 2);
  const others = ranked.slice(kept.length);
  return parts.flatMap((part) => [
    ...cellsOf(part, { place: 'total', segment: '' }, undefined),
    ...kept.flatMap((segment) => cellsOf(part, { place: 'segment', segment: segments[segment]! }, [segment])),
    ...(others.length > 0 ? cellsOf(part, { place: 'other', segment: '' }, others) : []),
    ...payerCells(part, kept, { segments, hasOthers: others.length > 0 }),
  ]);
}

/** Segments in their order. */
function rank(
  query: ChartQuery,
  parts: readonly SummedPart[],
  seen: readonly { segment: number; text: string }[],
): number[] {
  const asked = parts.find(({ index }) => index === 0);
  const isSplit = query.chart.kind === 'ratio' && query.segmentation?.ofInstalls;
  const perOf = (segment: number) => {
    if (asked?.payers) return BigInt(asked.payers.payersOf(segment));
    return isSplit ? asked?.installs.total(segment) : 1n;
  };
  const shownOf = (segment: number) => {
    const sum = asked?.entries.total(segment) ?? 0n;
    return unitOf(query.chart) === 'USD' ? toMicros(sum, perOf(segment)) : sum;
  };
  return seen
    .map(({ segment, text }) => ({ segment, value: shownOf(segment), text }))
    .sort((a, b) => (a.value === b.value ? compareCodePoints(a.text, b.text) : a.value > b.value ? -1 : 1))
    .map(({ segment }) => segment);
}

/** Of these segments together; of all there is, if undefined. */
function cellsOf(
  { index, entries, installs }: SummedPart,
  shown: Pick<Cell, 'place' | 'segment'>,
  segments: readonly number[] | undefined,
): Cell[] {
  const sides = [['entries', entries] as const, ['per', installs] as const];
  return sides.flatMap(([side, summed]) =>
    summed.sumUp(segments).map(({ bucket, sums }) => ({ ...shown, side, span: index, bucket: bucket + 1, sums })),
  );
}

function payerCells(
  { index, payers }: SummedPart,
  kept: readonly number[],
  { segments, hasOthers }: { segments: readonly string[]; hasOthers: boolean },
): Cell[] {
  if (!payers) return [];
  const { all, each, others } = payers.count(kept);
  const cells = (place: Cell['place'], segment: string, { range, buckets }: PayerCount): Cell[] =>
    [...buckets, range].map((count, i) => ({
      place,
      segment,
      side: 'per',
      span: index,
      bucket: i < buckets.length ? i + 1 : null,
      sums: [BigInt(count)],
    }));
  return [
    ...cells('total', '', all),
    ...each.flatMap((count, i) => cells('segment', segments[kept[i]!]!, count)),
    ...(hasOthers ? cells('other', '', others) : []),
  ];
}
