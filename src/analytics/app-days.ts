// The days of the app, in which facts are kept, whatever the zone of the question.
import { dayStart, localDay } from '../lib/zone.ts';
import { todayIn } from './calendar.ts';
import type { ChartQuery } from './request.ts';
import type { Source } from './sources.ts';

/** Moments of earlier days have all passed. */
export function appToday({ appZone, now }: ChartQuery): number {
  return todayIn(appZone, now);
}

/** The first day of which anything is in the span, and the day after the last. */
export function appDaysOf({ query, span }: Pick<Source, 'query' | 'span'>): { first: number; end: number } {
  if (query.inAppZone) return { first: span.days[0]!, end: span.days.at(-1)! };
  const dayOf = (at: number) => localDay(query.appZone, at);
  return { first: dayOf(span.instants[0]!), end: dayOf(span.instants.at(-1)! - 1) + 1 };
}

interface WholeDays {
  /** Days on which a bucket begins or ends after midnight. */
  cut: number[];
  /** Edges of the buckets for all other days. */
  edges: number[];
}

/** How the days of the app lie in the buckets. */
export function wholeDaysOf({ query, span }: Pick<Source, 'query' | 'span'>): WholeDays {
  if (query.inAppZone) return { cut: [], edges: [...span.days] };
  const edges = span.instants.map((at) => localDay(query.appZone, at));
  return { cut: edges.filter((day, i) => dayStart(query.appZone, day) !== span.instants[i]), edges };
}
