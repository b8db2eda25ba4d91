// Which values a dimension has, to filter by.
import type { ChartRecord, DimensionRecord } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import type { Service } from '../service/use-service.ts';
import { type ChartView, chartView, toRequest } from '../view/view.ts';
import { NONE, tellApart, type Value } from './filter-values.ts';
import { metricOf } from './question.ts';

interface DimensionOfChart {
  chart: ChartRecord;
  view: ChartView;
  /** The dimension. */
  name: string;
}

/**
 * What is recorded freely and has titles all the same; of the rest a value is its own title. Stores are named by the app,
 * and countries not alike by every browser: `Hong Kong` is `Hong Kong SAR China` in an answer.
 */
const TITLED = ['country', 'store'];

export function findDimension({ catalogue }: Service, name: string): DimensionRecord | undefined {
  return catalogue.dimensions.find((one) => one.name === name);
}

/** The values in the chart's days; of a chart that is not segmented so, those of revenue, which is segmented by all. */
async function listSeen(
  client: Client,
  { chart, view, name }: DimensionOfChart,
  signal: AbortSignal,
): Promise<Value[]> {
  const chart_id = chart.segmentations.includes(name) ? chart.chart_id : 'revenue';
  const { range, zone, date_type } = view;
  const asked: ChartView = { ...chartView(chart_id), range, zone, date_type, period_unit: 'year', segmentation: name };
  const metrics = await client.askChart({ body: toRequest(asked, await client.askToday(zone, signal)), zone, signal });
  const [, ...segments] = metricOf(metrics, view.money).data;
  // What is beyond the most series that an answer has is one of them, and no value.
  const named = segments.filter(({ type, title }) => !(type === 'other' && title === 'Other'));
  return named.map(({ type, title }) => ({ value: type, title }));
}

/** All there are, or those that were seen. */
export async function listValues(service: Service, asked: DimensionOfChart, signal: AbortSignal): Promise<Value[]> {
  const all = findDimension(service, asked.name)?.values;
  const list = all ? [...all, NONE] : await listSeen(service.client, asked, signal);
  const titles = tellApart(list);
  return list.map(({ value }, i) => ({ value, title: titles[i]! }));
}

/** About the same values, asked so that the service need not go through what happened: it has totals of the app's own days. */
function asTotalled({ chart, view, name }: DimensionOfChart): DimensionOfChart {
  // Who paid has to be counted; where they paid is where the revenue is.
  const chart_id = chart.chart_id === 'arppu' ? 'revenue' : chart.chart_id;
  return { chart: { ...chart, chart_id }, view: { ...view, zone: null, date_type: 'purchase_date' }, name };
}

/** Those of which the titles are not the values. */
export async function listTitled(service: Service, asked: DimensionOfChart, signal: AbortSignal): Promise<Value[]> {
  if (findDimension(service, asked.name)?.values) return listValues(service, asked, signal);
  return TITLED.includes(asked.name) ? listSeen(service.client, asTotalled(asked), signal) : [];
}
