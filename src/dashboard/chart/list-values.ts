// Which values a dimension has, to filter by.
import type { ChartRecord, DimensionRecord } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import type { Service } from '../service/use-service.ts';
import { type ChartView, chartView, toRequest } from '../view/view.ts';
import { NONE, type Value } from './filter-values.ts';
import { metricOf } from './question.ts';

export interface Asked {
  chart: ChartRecord;
  view: ChartView;
  /** The dimension. */
  name: string;
}

/** What is recorded freely and has titles all the same; of the rest a value is its own title. */
const TITLED = ['country', 'store'];

export function findDimension({ catalogue }: Service, name: string): DimensionRecord | undefined {
  return catalogue.dimensions.find((one) => one.name === name);
}

/** The values in the chart's days; of a chart that is not segmented so, those of revenue, which is segmented by all. */
async function listSeen(client: Client, { chart, view, name }: Asked, signal: AbortSignal): Promise<Value[]> {
  const chart_id = chart.segmentations.includes(name) ? chart.chart_id : 'revenue';
  const { range, zone, date_type } = view;
  const asked: ChartView = { ...chartView(chart_id), range, zone, date_type, period_unit: 'year', segmentation: name };
  const metrics = await client.askChart({ body: toRequest(asked, await client.askToday(zone)), zone, signal });
  const [, ...segments] = metricOf(metrics, view.money).data;
  // What is beyond the most series that an answer has is one of them, and no value.
  const named = segments.filter(({ type, title }) => !(type === 'other' && title === 'Other'));
  return named.map(({ type, title }) => ({ value: type, title }));
}

/** All there are, or those that were seen. */
export async function listValues(service: Service, asked: Asked, signal: AbortSignal): Promise<Value[]> {
  const all = findDimension(service, asked.name)?.values;
  return all ? [...all, NONE] : listSeen(service.client, asked, signal);
}

/** Those of which the titles are not the values. */
export async function listTitled(service: Service, asked: Asked, signal: AbortSignal): Promise<Value[]> {
  const isTitled = TITLED.includes(asked.name) || findDimension(service, asked.name)?.values != null;
  return isTitled ? listValues(service, asked, signal) : [];
}
