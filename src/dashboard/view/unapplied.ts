// What of a view a chart does not take. It stays in the address for the next chart, so the page has to say it.
import type { ChartRecord } from '../service/answers.ts';
import { type ChartView, fitToChart } from './view.ts';

export function listUnapplied(view: ChartView, chart: ChartRecord, titleOf: (dimension: string) => string): string[] {
  const fitted = fitToChart(view, chart);
  const filters = Object.keys(view.filters).filter((name) => !(name in fitted.filters));
  return [
    ...filters.map(titleOf),
    ...(view.segmentation === fitted.segmentation ? [] : [`segmentation by ${titleOf(view.segmentation as string)}`]),
    ...(view.compare === fitted.compare ? [] : ['comparison']),
  ];
}
