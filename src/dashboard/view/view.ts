// What the page shows, as one value. All of it is in the address, so every view can be bookmarked and shared.
import type { ChartRecord } from '../service/answers.ts';
import {
  clipToToday,
  type DayRange,
  type Preset,
  presetBefore,
  presetRange,
  rangeBefore,
  rangeYearBefore,
} from './days.ts';

export const PERIOD_UNITS = ['day', 'week', 'month', 'quarter', 'year'] as const;
export const DATE_TYPES = ['purchase_date', 'profile_install_date'] as const;
export const MONEY_BASES = ['revenue', 'proceeds', 'net_revenue'] as const;
export const DRAWINGS = ['line', 'area', 'bars'] as const;
export const COMPARISONS = ['previous', 'year_before'] as const;

export type PeriodUnit = (typeof PERIOD_UNITS)[number];
export type DateType = (typeof DATE_TYPES)[number];
export type MoneyBasis = (typeof MONEY_BASES)[number];
export type Drawing = (typeof DRAWINGS)[number];
export type Comparison = (typeof COMPARISONS)[number];

export interface ChartView {
  page: 'chart';
  chart_id: string;
  range: Preset | DayRange;
  period_unit: PeriodUnit;
  date_type: DateType;
  segmentation: string | null;
  filters: Record<string, string[]>;
  compare: Comparison | DayRange | null;
  money: MoneyBasis;
  /** IANA name; null means the app's own zone. */
  zone: string | null;
  /** Null means the default for the kind of chart. */
  drawing: Drawing | null;
  /** Keys of the series that are drawn (chart/series.ts); null means the default choice. */
  series: string[] | null;
}

export interface FeedView {
  page: 'events';
  event_type: string | null;
  customer_user_id: string | null;
  profile_id: string | null;
}

export type View = { page: 'overview' } | ChartView | FeedView;

export const FEED: FeedView = { page: 'events', event_type: null, customer_user_id: null, profile_id: null };

/** Returns the filters of a feed, named as in the request. */
export function filtersOf({ page: _, ...filters }: FeedView): [string, string][] {
  return Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== null);
}

/** Returns the view in which a chart is first shown. The overview asks for the same days. */
export function chartView(chart_id: string): ChartView {
  return {
    page: 'chart',
    chart_id,
    range: 'last_28_days',
    period_unit: 'day',
    date_type: 'purchase_date',
    segmentation: null,
    filters: {},
    compare: null,
    money: 'revenue',
    zone: null,
    drawing: null,
    series: null,
  };
}

/** Drops what this chart does not support: the view may come from another chart, or have been typed by hand. */
export function fitToChart(view: ChartView, chart: ChartRecord): ChartView {
  const { segmentation, filters, compare } = view;
  return {
    ...view,
    chart_id: chart.chart_id,
    segmentation: segmentation !== null && chart.segmentations.includes(segmentation) ? segmentation : null,
    filters: Object.fromEntries(Object.entries(filters).filter(([name]) => chart.filters.includes(name))),
    compare: chart.compares ? compare : null,
  };
}

/** A choice made on a chart. One that depends on earlier choices is a function of the view that they have led to. */
export type Choice = Partial<ChartView> | ((current: ChartView) => Partial<ChartView>);

/**
 * Returns the view after a choice. Filters that it does not name stay as they are; a filter without values is removed.
 */
export function changeView(view: ChartView, part: Partial<ChartView>): ChartView {
  const filters = Object.entries({ ...view.filters, ...part.filters }).filter(([, values]) => values.length > 0);
  return { ...view, ...part, filters: Object.fromEntries(filters) };
}

/**
 * Returns the same view of another chart. What that chart does not support is kept, and applies again on the way back.
 */
export function switchChart(view: View, chart: ChartRecord): ChartView {
  if (view.page !== 'chart') return chartView(chart.chart_id);
  return { ...view, chart_id: chart.chart_id, drawing: null, series: null };
}

export function rangeOf({ range }: ChartView, today: string): DayRange {
  return typeof range === 'string' ? presetRange(range, today) : range;
}

export function previousRange({ range }: ChartView, today: string): DayRange {
  return typeof range === 'string' ? presetBefore(range, today) : rangeBefore(range, today);
}

/** Returns the days to compare with. A range that has not begun is compared with nothing, unless dates were chosen. */
export function comparedRange(view: ChartView, today: string): DayRange | null {
  if (view.compare === null || typeof view.compare === 'object') return view.compare;
  const range = rangeOf(view, today);
  if (today < range.first) return null;
  return view.compare === 'previous' ? previousRange(view, today) : rangeYearBefore(clipToToday(range, today));
}

/** Returns the body of the analytics request for a view (interface 4.2). */
export function toRequest(view: ChartView, today: string): Record<string, unknown> {
  const range = rangeOf(view, today);
  const compared = comparedRange(view, today);
  return {
    chart_id: view.chart_id,
    period_unit: view.period_unit,
    date_type: view.date_type,
    segmentation: view.segmentation,
    filters: {
      date: [range.first, range.last],
      ...(compared && { compare_date: [compared.first, compared.last] }),
      ...view.filters,
    },
  };
}
