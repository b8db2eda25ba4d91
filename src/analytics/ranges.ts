// Covers the days of a span with few rows of totals: whole months by month, the rest by day. Pure.
import type { GRAINS } from '../facts/totals-schema.ts';
import { unitStart } from './calendar.ts';

type Grain = (typeof GRAINS)[number];

export interface Range {
  /** From 1. */
  bucket: number;
  grain: Grain;
  from: number;
  /** Exclusive. */
  to: number;
}

/** Before the first day of any fact. */
const BEGINNING = -1_000_000;

function split(bucket: number, from: number, to: number): Range[] {
  const firstMonth = from === BEGINNING ? from : unitStart(from - 1, 'month', 1);
  const lastMonth = unitStart(to, 'month');
  const days = (since: number, until: number): Range => ({ bucket, grain: 'day', from: since, to: until });
  if (firstMonth >= lastMonth) return [days(from, to)];
  return [days(from, firstMonth), { bucket, grain: 'month', from: firstMonth, to: lastMonth }, days(lastMonth, to)];
}

/**
 * Returns the ranges of the buckets with these edges, up to `end`. With `includesHistory`, the first bucket includes
 * all earlier days.
 */
export function listRanges(edges: readonly number[], end: number, includesHistory: boolean): Range[] {
  return edges
    .slice(0, -1)
    .flatMap((day, i) =>
      split(i + 1, includesHistory && i === 0 ? BEGINNING : day, Math.min(edges[i + 1] as number, end)),
    )
    .filter(({ from, to }) => from < to);
}
