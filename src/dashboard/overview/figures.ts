// The six figures of the overview, each a chart over the last 28 days compared with the 28 days before.
import { metricOf } from '../chart/question.ts';
import type { ChartRecord } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import { chartView, previousRange, toRequest } from '../view/view.ts';
import type { Unit } from '../words/values.ts';

export const FIGURES = [
  'revenue',
  'mrr',
  'subscriptions_active',
  'trials_active',
  'subscriptions_new',
  'installs',
] as const;

export interface Figure {
  unit: Unit;
  value: number;
  before: number;
  /** One value per day. */
  line: number[];
  lineBefore: number[];
}

const ys = (points: readonly { y: number }[] | null | undefined) => (points ?? []).map(({ y }) => y);

/** Fetches a figure. Charts that support comparison take one chart request, the others two. */
export async function askFigure(client: Client, chart: ChartRecord, signal: AbortSignal): Promise<Figure> {
  const today = await client.askToday(null, signal);
  const view = chartView(chart.chart_id);
  const ask = async (asked: typeof view) =>
    metricOf(await client.askChart({ body: toRequest(asked, today), zone: null, signal }), 'revenue');
  if (chart.compares) {
    const { unit, value, compare_value, data } = await ask({ ...view, compare: 'previous' });
    const [total] = data;
    return {
      unit,
      value,
      before: compare_value ?? 0,
      line: ys(total?.values),
      lineBefore: ys(total?.compare_values),
    };
  }
  const [now, before] = await Promise.all([ask(view), ask({ ...view, range: previousRange(view, today) })]);
  return {
    unit: now.unit,
    value: now.value,
    before: before.value,
    line: ys(now.data[0]?.values),
    lineBefore: ys(before.data[0]?.values),
  };
}
