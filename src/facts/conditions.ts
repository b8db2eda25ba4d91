// What makes a fact priced, a trial, paid and so on: conditions on facts `f` in SQL. Totals, the codes of columns and charts that read facts
// ask the same; columns ask the codes (kind.ts).
import { PERIODS } from './codes.ts';

const isPeriod = (name: (typeof PERIODS)[number]) => `f.period = ${PERIODS.indexOf(name)}`;

export const FACT_IS = {
  priced: 'f.revenue > 0',
  trial: isPeriod('trial'),
  paid: `f.period between ${PERIODS.indexOf('activation')} and ${PERIODS.indexOf('renewal_6_plus')}`,
  first_paid: isPeriod('activation'),
  one_time: isPeriod('one_time'),
  adds_monthly: 'f.monthly_revenue is not null',
  /** Whatever the moment; a chart asks for refunds until its own. */
  not_refunded: 'f.refunded_at is null',
} as const;
