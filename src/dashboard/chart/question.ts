// Asks the service for a chart's view. The answer includes the view asked for, since the page may have moved on.
import type { Metric, Metrics } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import { unexpectedResponse } from '../service/failure.ts';
import type { DayRange } from '../view/days.ts';
import { type ChartView, comparedRange, MONEY_BASES, rangeOf, toRequest } from '../view/view.ts';

export interface ChartAnswer {
  view: ChartView;
  today: string;
  range: DayRange;
  compared: DayRange | null;
  metrics: Metrics;
}

/** Returns the part of a view that determines the answer; the rest is how the answer is shown. */
export function questionOf({ money: _, drawing: __, series: ___, ...asked }: ChartView): string {
  return JSON.stringify(asked);
}

export async function askView(client: Client, view: ChartView, signal: AbortSignal): Promise<ChartAnswer> {
  const today = await client.askToday(view.zone, signal);
  const metrics = await client.askChart({ body: toRequest(view, today), zone: view.zone, signal });
  // The basis can be switched without asking again, so a missing one must be noticed here and not while drawing.
  for (const money of MONEY_BASES) metricOf(metrics, money);
  return { view, today, range: rangeOf(view, today), compared: comparedRange(view, today), metrics };
}

/** Whether to report a change between the values. Dates are compared as chosen, but some of them may not have begun. */
export function showsChange({ view, range, compared, today }: ChartAnswer): boolean {
  return typeof view.compare === 'string' || [range, compared].every((one) => one !== null && one.last <= today);
}

/**
 * Returns the metric for a money basis, or the only one if the chart is not about money; throws a Failure if absent.
 */
export function metricOf(metrics: Metrics, money: ChartView['money']): Metric {
  const metric = metrics[money] ?? metrics.common;
  if (!metric) throw unexpectedResponse();
  return metric;
}
