// Parts of a view that a chart does not support. They stay in the address for the next chart, so the page names them.
import type { ChartRecord } from '../service/answers.ts';
import { type ChartView, fitToChart } from './view.ts';

export interface Unapplied {
  title: string;
  /** The change to the view that removes the part. */
  removal: Partial<ChartView>;
}

export function listUnapplied(
  view: ChartView,
  chart: ChartRecord,
  titleOf: (dimension: string) => string,
): Unapplied[] {
  const { segmentation, filters, compare } = view;
  const fitted = fitToChart(view, chart);
  const unapplied: Unapplied[] = Object.keys(filters)
    // The address may name anything, even `toString`.
    .filter((name) => !Object.hasOwn(fitted.filters, name))
    .map((name) => ({ title: titleOf(name), removal: { filters: { [name]: [] } } }));
  if (segmentation !== null && fitted.segmentation === null) {
    unapplied.push({
      title: `segmentation by ${titleOf(segmentation)}`,
      removal: { segmentation: null, series: null },
    });
  }
  if (compare !== null && fitted.compare === null) {
    unapplied.push({ title: 'comparison', removal: { compare: null } });
  }
  return unapplied;
}
