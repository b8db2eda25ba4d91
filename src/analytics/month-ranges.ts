// Months as ranges of days.
import { monthAfter } from '../facts/column-groups.ts';

/** Days from the one to before the other; null is without end. */
export type DayRange = readonly [from: number | null, to: number | null];

/** As few ranges as cover these months, that are in order. */
export function rangesOfMonths(months: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const month of months) {
    const last = ranges.at(-1);
    if (last?.[1] === month) last[1] = monthAfter(month);
    else ranges.push([month, monthAfter(month)]);
  }
  return ranges;
}

/** What lies between and around the ranges. */
export function rangesBetween(ranges: readonly (readonly [number, number])[]): DayRange[] {
  const edges = [null, ...ranges.flat(), null];
  return Array.from({ length: ranges.length + 1 }, (_, i) => [edges[2 * i]!, edges[2 * i + 1]!]);
}
