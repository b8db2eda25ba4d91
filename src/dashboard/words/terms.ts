// The terms on which a chart is counted: money basis, time zone, date type. Worded like the choices in the controls.
import type { ChartView, DateType, MoneyBasis } from '../view/view.ts';
import type { Unit } from './values.ts';

export const BASIS_TITLES: Record<MoneyBasis, string> = {
  revenue: 'Revenue',
  proceeds: 'Proceeds',
  net_revenue: 'Net revenue',
};
export const DATE_TYPE_TITLES: Record<DateType, string> = {
  purchase_date: 'Event date',
  profile_install_date: 'Install date',
};

export function zoneTitle(zone: string): string {
  return zone.replaceAll('_', ' ');
}

type Terms = Pick<ChartView, 'money' | 'zone' | 'date_type'>;

/** Lists the terms that differ from the defaults, for use in running text. Only money has a basis. */
export function listTerms({ money, zone, date_type }: Terms, unit: Unit): string[] {
  const terms: string[] = [];
  if (unit === 'USD' && money !== 'revenue') terms.push(BASIS_TITLES[money].toLowerCase());
  if (zone !== null) terms.push(zoneTitle(zone));
  if (date_type !== 'purchase_date') terms.push(`by ${DATE_TYPE_TITLES[date_type].toLowerCase()}`);
  return terms;
}
