// Days in the zone of the app. Facts are kept in these days, whatever the zone of the query.
import { dayStart, localDay } from '../lib/zone.ts';
import { todayIn } from './calendar.ts';
import type { ChartQuery } from './request.ts';
import type { Source } from './sources.ts';

/** Returns today in the app's zone. All moments of earlier days have passed. */
export function appToday({ appZone, now }: ChartQuery): number {
  return todayIn(appZone, now);
}

/** Returns the first of the app's days that overlaps the span, and the day after the last one. */
export function appDaysOf({ query, span }: Pick<Source, 'query' | 'span'>): { first: number; end: number } {
  if (query.inAppZone) return { first: span.days[0]!, end: span.days.at(-1)! };
  const dayOf = (at: number) => localDay(query.appZone, at);
  return { first: dayOf(span.instants[0]!), end: dayOf(span.instants.at(-1)! - 1) + 1 };
}

interface WholeDays {
  /** Days that a bucket edge cuts in two, because it is not at their midnight. */
  cut: number[];
  /** The bucket edges as days, valid for all other days. */
  edges: number[];
}

/** Maps the days of the app to the buckets. */
export function wholeDaysOf({ query, span }: Pick<Source, 'query' | 'span'>): WholeDays {
  if (query.inAppZone) return { cut: [], edges: [...span.days] };
  const edges = span.instants.map((at) => localDay(query.appZone, at));
  return { cut: edges.filter((day, i) => dayStart(query.appZone, day) !== span.instants[i]), edges };
}
