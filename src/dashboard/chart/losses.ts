// Charts that count losses. An increase is not good news there, so their changes are neither green nor red.
import type { ChartRecord } from '../service/answers.ts';

const GROUP = 'Billing and refunds';
const CHARTS = [
  'subscriptions_renewal_cancelled',
  'subscriptions_expired',
  'trials_renewal_cancelled',
  'trials_expired',
];

export function countsLosses({ chart_id, group }: ChartRecord): boolean {
  return group === GROUP || CHARTS.includes(chart_id);
}
