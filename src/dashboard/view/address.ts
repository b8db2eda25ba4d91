// Converts a view to the fragment of the address and back. A fragment stays in the browser, so customer ids and
// campaign names reach no server log. Members are named as in the requests; one that cannot be read counts as absent.
import { type DayRange, isDay, PRESETS } from './days.ts';
import {
  type ChartView,
  COMPARISONS,
  chartView,
  DATE_TYPES,
  DRAWINGS,
  FEED,
  filtersOf,
  MONEY_BASES,
  PERIOD_UNITS,
  type View,
} from './view.ts';

const FILTER = 'filters.';

function readOneOf<T extends string, F extends T | null>(
  values: readonly T[],
  text: string | null,
  fallback: F,
): T | F {
  return values.find((value) => value === text) ?? fallback;
}

function readRange(text: string | null): DayRange | undefined {
  const [first = '', last = '', ...rest] = text?.split('_to_') ?? [];
  return isDay(first) && isDay(last) && first <= last && rest.length === 0 ? { first, last } : undefined;
}

function writeRange(range: string | DayRange | null): string | null {
  return range === null || typeof range === 'string' ? range : `${range.first}_to_${range.last}`;
}

/**
 * IANA names are visible ASCII. The zone goes into a header; for other text fetch throws as if there were no network.
 */
function readZone(text: string | null): string | null {
  return text !== null && /^[\x21-\x7e]+$/.test(text) ? text : null;
}

function readChart(chart_id: string, members: URLSearchParams): ChartView {
  const defaults = chartView(chart_id);
  const text = (name: string) => members.get(name) || null;
  const filters = new Map<string, string[]>();
  for (const [name, value] of members) {
    if (!name.startsWith(FILTER) || name === FILTER) continue;
    const dimension = name.slice(FILTER.length);
    filters.set(dimension, [...(filters.get(dimension) ?? []), value]);
  }
  return {
    ...defaults,
    range: readRange(text('date')) ?? readOneOf(PRESETS, text('date'), 'last_28_days'),
    period_unit: readOneOf(PERIOD_UNITS, text('period_unit'), defaults.period_unit),
    date_type: readOneOf(DATE_TYPES, text('date_type'), defaults.date_type),
    segmentation: text('segmentation'),
    filters: Object.fromEntries(filters),
    compare: readRange(text('compare_date')) ?? readOneOf(COMPARISONS, text('compare_date'), null),
    money: readOneOf(MONEY_BASES, text('money'), defaults.money),
    zone: readZone(text('zone')),
    drawing: readOneOf(DRAWINGS, text('drawing'), null),
    series: members.has('series') ? members.getAll('series').filter((key) => key !== '') : null,
  };
}

/** Returns the members of a chart view that differ from the defaults. */
function writeChart(view: ChartView): URLSearchParams {
  const defaults = chartView(view.chart_id);
  const members = new URLSearchParams();
  const write = (name: string, value: string | null, defaultValue: string | null) => {
    if (value !== null && value !== defaultValue) members.append(name, value);
  };
  write('date', writeRange(view.range), writeRange(defaults.range));
  write('period_unit', view.period_unit, defaults.period_unit);
  write('date_type', view.date_type, defaults.date_type);
  write('segmentation', view.segmentation, null);
  for (const [name, values] of Object.entries(view.filters)) {
    for (const value of values) members.append(`${FILTER}${name}`, value);
  }
  write('compare_date', writeRange(view.compare), null);
  write('money', view.money, defaults.money);
  write('zone', view.zone, null);
  write('drawing', view.drawing, null);
  // A single empty key means that no series is drawn; no key at all means the default choice.
  for (const key of view.series?.length === 0 ? [''] : (view.series ?? [])) members.append('series', key);
  return members;
}

/** Returns the view that a fragment names, or the overview if it names none. */
export function readAddress(fragment: string): View {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split(/\?(.*)/s, 2);
  const [page, name = ''] = path.split('/');
  const members = new URLSearchParams(query);
  if (page === 'charts' && name !== '') return readChart(name, members);
  if (page !== 'events') return { page: 'overview' };
  const text = (member: string) => members.get(member) || null;
  return {
    ...FEED,
    event_type: text('event_type'),
    customer_user_id: text('customer_user_id'),
    profile_id: text('profile_id'),
  };
}

export function writeAddress(view: View): string {
  if (view.page === 'overview') return '#/';
  if (view.page === 'chart') return withMembers(`#/charts/${view.chart_id}`, writeChart(view));
  return withMembers('#/events', new URLSearchParams(filtersOf(view)));
}

function withMembers(path: string, members: URLSearchParams): string {
  return members.size > 0 ? `${path}?${members}` : path;
}
