// Decides which totals a query reads: those split by which column, and up to which day.
import { MONTHLY_HOMES, TOTAL_HOMES, TOTALLED_ATTRIBUTES, type TotalHome } from '../facts/totals-schema.ts';
import { appToday } from './app-days.ts';
import { unitStart } from './calendar.ts';
import type { Moment } from './entries.ts';
import { listRanges, type Range } from './ranges.ts';
import { labelAttributes, listDimensions, type Source } from './sources.ts';

/**
 * Returns the one column of totals by which the query splits and filters; undefined if it uses none, several, or one
 * that totals are not split by.
 */
export function homeOf({ query }: Source): TotalHome | undefined {
  const [column, ...otherColumns] = new Set(listDimensions(query).map(({ home }) => home.column));
  if (otherColumns.length > 0) return undefined;
  const [attribute, ...others] = new Set(labelAttributes(query));
  if (others.length === 0 && includesName(TOTALLED_ATTRIBUTES, attribute)) return `${attribute}_key`;
  return includesName(TOTAL_HOMES, column) ? column : undefined;
}

function includesName<T extends string>(names: readonly T[], name: string | undefined): name is T {
  return (names as readonly string[]).includes(name ?? '');
}

/** Whether the totals that this query reads are kept by month alone. */
export function isMonthly(source: Source): boolean {
  const home = homeOf(source);
  return home !== undefined && MONTHLY_HOMES.includes(home);
}

/** Returns the days of the query that are read from the totals. */
export function rangesOf(source: Source, until: Moment | undefined): Range[] {
  return listRanges(source.span.days, totalsHorizon(source), until !== undefined);
}

/**
 * Returns the first day that is not read from the totals: today, or the first of this month if they are kept by month
 * alone.
 */
export function totalsHorizon(source: Source): number {
  const today = appToday(source.query);
  return isMonthly(source) ? unitStart(today, 'month') : today;
}
