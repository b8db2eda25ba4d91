// Renders series as the metrics of a JSON answer (analytics.md 4). Pure.
import { microsToUsd } from '../lib/money.ts';
import { listStarts } from './calendar.ts';
import { metricKeysOf, unitOf } from './catalogue.ts';
import type { ChartQuery } from './request.ts';
import type { ChartMetric } from './schema.ts';
import type { Line, Series } from './series.ts';
import { type StoreTitles, titleOfSeries } from './titles.ts';

const AGGREGATIONS = { flow: 'sum', stock: 'last', ratio: null } as const;

/** Returns the metric under each key of the chart. */
export function renderMetrics(
  query: ChartQuery,
  series: readonly Series[],
  titles: StoreTitles,
): Record<string, ChartMetric> {
  const { chart } = query;
  const unit = unitOf(chart);
  const shown = (value: bigint) => (unit === 'USD' ? microsToUsd(value) : Number(value));
  const points = (starts: readonly string[], { values }: Line) => starts.map((x, i) => ({ x, y: shown(values[i]!) }));
  const starts = listStarts(query.span, query.zone);
  const comparedStarts = query.compared ? listStarts(query.compared, query.zone) : [];

  const metricOf = (key: number): ChartMetric => {
    const { main, compared } = series[0]!.lines[key]!;
    return {
      title: chart.chart_id,
      metric_name: chart.metric_name,
      description: chart.description,
      type: 'multi',
      unit,
      default_aggregation: AGGREGATIONS[chart.kind],
      is_json: true,
      recommended_period: null,
      value: shown(main.value),
      value_from: main.ratio && Number(main.ratio.denominator),
      value_to: main.ratio && shown(main.ratio.numerator),
      compare_value: compared && shown(compared.value),
      compare_value_from: compared?.ratio ? Number(compared.ratio.denominator) : null,
      compare_value_to: compared?.ratio ? shown(compared.ratio.numerator) : null,
      data: series.map((one) => {
        const line = one.lines[key]!;
        return {
          title: titleOfSeries(query.segmentation, one, titles),
          type: one.place === 'segment' ? one.segment : one.place,
          value: shown(line.main.value),
          values: points(starts, line.main),
          compare_value: line.compared && shown(line.compared.value),
          compare_values: line.compared && points(comparedStarts, line.compared),
        };
      }),
    };
  };
  return Object.fromEntries(metricKeysOf(chart).map((name, key) => [name, metricOf(key)]));
}
