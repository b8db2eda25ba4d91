// What of a view a chart does not take. It stays in the address for the next chart, so the page has to say it.
import type { ChartRecord } from '../service/answers.ts';
import { type ChartView, fitToChart } from './view.ts';

export interface Unapplied {
  title: string;
  /** The change of a view that removes it. */
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
    // The address may name anything, `toString` too.
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
