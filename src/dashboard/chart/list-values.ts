// Lists the values of a dimension, to filter by.
import type { ChartRecord, DimensionRecord } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import type { Service } from '../service/use-service.ts';
import { type ChartView, chartView, toRequest } from '../view/view.ts';
import { distinctTitles, NONE, type Value } from './filter-values.ts';
import { metricOf } from './question.ts';

interface DimensionOfChart {
  chart: ChartRecord;
  view: ChartView;
  /** The dimension. */
  name: string;
}

/**
 * The free-form dimensions whose values have titles; in the others, a value is its own title. An app names its stores,
 * and not every browser names countries as the service does: `Hong Kong` is `Hong Kong SAR China` in an answer.
 */
const DIMENSIONS_WITH_TITLES = ['country', 'store'];

export function findDimension({ catalogue }: Service, name: string): DimensionRecord | undefined {
  return catalogue.dimensions.find((one) => one.name === name);
}

/** Lists the values seen in the chart's days. If the chart lacks the segmentation, asks revenue, which has them all. */
async function listSeenValues(
  client: Client,
  { chart, view, name }: DimensionOfChart,
  signal: AbortSignal,
): Promise<Value[]> {
  const chart_id = chart.segmentations.includes(name) ? chart.chart_id : 'revenue';
  const { range, zone, date_type } = view;
  const asked: ChartView = { ...chartView(chart_id), range, zone, date_type, period_unit: 'year', segmentation: name };
  const metrics = await client.askChart({ body: toRequest(asked, await client.askToday(zone, signal)), zone, signal });
  const [, ...segments] = metricOf(metrics, view.money).data;
  // The segments beyond the maximum number of series in an answer are combined into one series, which is not a value.
  const named = segments.filter(({ type, title }) => !(type === 'other' && title === 'Other'));
  return named.map(({ type, title }) => ({ value: type, title }));
}

/** Lists all values if the dimension has a fixed set, otherwise those that were seen. */
export async function listValues(service: Service, asked: DimensionOfChart, signal: AbortSignal): Promise<Value[]> {
  const all = findDimension(service, asked.name)?.values;
  const list = all ? [...all, NONE] : await listSeenValues(service.client, asked, signal);
  const titles = distinctTitles(list);
  return list.map(({ value }, i) => ({ value, title: titles[i]! }));
}

/**
 * Returns a question for about the same values that the service can answer from its totals, which exist for the app's
 * own days, without reading every fact.
 */
function asTotalled({ chart, view, name }: DimensionOfChart): DimensionOfChart {
  // ARPPU has to count who paid; revenue has the same countries and stores.
  const chart_id = chart.chart_id === 'arppu' ? 'revenue' : chart.chart_id;
  return { chart: { ...chart, chart_id }, view: { ...view, zone: null, date_type: 'purchase_date' }, name };
}

/** Lists the values of a dimension if their titles differ from them, otherwise none. */
export async function listTitledValues(
  service: Service,
  asked: DimensionOfChart,
  signal: AbortSignal,
): Promise<Value[]> {
  if (findDimension(service, asked.name)?.values) return listValues(service, asked, signal);
  return DIMENSIONS_WITH_TITLES.includes(asked.name) ? listSeenValues(service.client, asTotalled(asked), signal) : [];
}
