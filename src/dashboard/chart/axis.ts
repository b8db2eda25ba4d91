// The marks of the axes. Buckets are evenly spaced at 0, 1, 2, …, however long they are. Pure.
import type { Series } from '../service/answers.ts';
import type { PeriodUnit } from '../view/view.ts';
import { dayOf, periodTick } from '../words/periods.ts';
import type { Unit } from '../words/values.ts';

const STEPS: Record<PeriodUnit, readonly number[]> = {
  day: [1, 2, 3, 7, 14, 28, 56, 91, 182],
  week: [1, 2, 4, 8, 13, 26],
  month: [1, 2, 3, 6, 12, 24],
  quarter: [1, 2, 4, 8],
  year: [1, 2, 5],
};

/**
 * Returns the day on which each bucket starts; empty where only the compared days continue: the axis is the range's.
 */
export function listStarts({ values, compare_values }: Pick<Series, 'values' | 'compare_values'>): string[] {
  const length = Math.max(values.length, compare_values?.length ?? 0);
  return Array.from({ length }, (_, i) => (values[i] ? dayOf(values[i].x) : ''));
}

/** Returns the positions of at most `maxMarks` evenly spaced marks. */
export function listMarks(count: number, unit: PeriodUnit, maxMarks: number): number[] {
  const minStep = count / Math.max(maxMarks, 1);
  const step = STEPS[unit].find((one) => one >= minStep) ?? Math.ceil(minStep);
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
}

/** Returns the label of each mark. The first mark of a year has the year on a second line. */
export function listMarkLabels(starts: readonly string[], marks: readonly number[], unit: PeriodUnit): string[] {
  return marks.map((mark, i) => {
    const day = starts[mark];
    if (!day) return '';
    const year = day.slice(0, 4);
    const before = i === 0 ? undefined : starts[marks[i - 1]!]?.slice(0, 4);
    return unit === 'year' || year === before ? periodTick(day, unit) : `${periodTick(day, unit)}\n${year}`;
  });
}

const WHOLE_STEPS = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 16 }, (_, i) => step * 10 ** i))
  .sort((a, b) => a - b);

/** The steps allowed between marks of the vertical axis: none is finer than the labels can show. */
export const VALUE_STEPS: Record<Unit, number[]> = {
  USD: WHOLE_STEPS.map((step) => step / 100),
  count: WHOLE_STEPS,
};

/** Returns the ends of the vertical axis. Zero is always on it, and nothing touches its upper end. */
export function valueRange(values: readonly (number | null)[]): [number, number] {
  let min = 0;
  let max = 0;
  for (const value of values) {
    if (value === null) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (min === max) return [0, 1];
  const room = (max - min) * 0.06;
  return [min < 0 ? min - room : 0, max > 0 ? max + room : 0];
}
