// A chart's view asked of the service; the answer carries what was asked, since the view may have moved on.
import type { Metric, Metrics } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import { unexpectedAnswer } from '../service/failure.ts';
import type { DayRange } from '../view/days.ts';
import { type ChartView, comparedRange, MONEY_BASES, rangeOf, toRequest } from '../view/view.ts';

export interface ChartAnswer {
  view: ChartView;
  today: string;
  range: DayRange;
  compared: DayRange | null;
  metrics: Metrics;
}

/** What decides the answer: the rest of a view is how it is shown. */
export function questionOf({ money: _, drawing: __, series: ___, ...asked }: ChartView): string {
  return JSON.stringify(asked);
}

export async function askView(client: Client, view: ChartView, signal: AbortSignal): Promise<ChartAnswer> {
  const today = await client.askToday(view.zone, signal);
  const metrics = await client.askChart({ body: toRequest(view, today), zone: view.zone, signal });
  // The basis may be chosen without another question: what is missing is to be found here, and not while it is drawn.
  for (const money of MONEY_BASES) metricOf(metrics, money);
  return { view, today, range: rangeOf(view, today), compared: comparedRange(view, today), metrics };
}

/** Whether the two values make a change: dates are compared as they were chosen, and some of them may not have begun. */
export function tellsChange({ view, range, compared, today }: ChartAnswer): boolean {
  return typeof view.compare === 'string' || [range, compared].every((one) => one !== null && one.last <= today);
}

/** The chart on a money basis; what is no money has one metric. Throws a Failure where the answer has neither. */
export function metricOf(metrics: Metrics, money: ChartView['money']): Metric {
  const metric = metrics[money] ?? metrics.common;
  if (!metric) throw unexpectedAnswer();
  return metric;
}
