// Converts months to ranges of days.
import { monthAfter } from '../facts/column-groups.ts';

/** Days from `from` up to, but not including, `to`; null means unbounded. */
export type DayRange = readonly [from: number | null, to: number | null];

/** Returns the fewest ranges that cover these months, which are in order. */
export function rangesOfMonths(months: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const month of months) {
    const last = ranges.at(-1);
    if (last?.[1] === month) last[1] = monthAfter(month);
    else ranges.push([month, monthAfter(month)]);
  }
  return ranges;
}

/** Returns the ranges between and around the given ones. */
export function rangesBetween(ranges: readonly (readonly [number, number])[]): DayRange[] {
  const edges = [null, ...ranges.flat(), null];
  return Array.from({ length: ranges.length + 1 }, (_, i) => [edges[2 * i]!, edges[2 * i + 1]!]);
}
