// What makes a fact priced, a trial, paid and so on, as SQL conditions on facts `f`. Totals, the codes of columns and
// charts that read facts all use these; charts that read columns test the codes instead (kind.ts).
import { PERIODS } from './codes.ts';

const isPeriod = (name: (typeof PERIODS)[number]) => `f.period = ${PERIODS.indexOf(name)}`;

export const FACT_IS = {
  priced: 'f.revenue > 0',
  trial: isPeriod('trial'),
  paid: `f.period between ${PERIODS.indexOf('activation')} and ${PERIODS.indexOf('renewal_6_plus')}`,
  first_paid: isPeriod('activation'),
  one_time: isPeriod('one_time'),
  adds_monthly: 'f.monthly_revenue is not null',
  /** False even for a future refund; charts themselves count refunds only up to their own `now`. */
  not_refunded: 'f.refunded_at is null',
} as const;
