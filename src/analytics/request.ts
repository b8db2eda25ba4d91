// Turns a request into a ChartQuery (analytics.md 3). Pure. The body and the zone are validated together, so that one
// answer names every problem, in the order of the tables of interface 4.2.
import { apiError, type FieldError, validationError } from '../errors.ts';
import { REPEATED_MESSAGE, type SentHeader } from '../http/service-headers.ts';
import { findZone, type Zone, zoneOfApp } from '../lib/zone.ts';
import { countBuckets, makeSpan, PERIOD_UNITS, type PeriodUnit, type Span } from './calendar.ts';
import { CHART_IDS, type Chart, chart, segmentationsOf } from './catalogue.ts';
import { EVERY_SEGMENTATION } from './chart-options.ts';
import { readChoice } from './choice.ts';
import { type Dimension, dimension } from './dimensions.ts';
import { type Filter, readFilters } from './filters.ts';

export const DATE_TYPES = ['purchase_date', 'profile_install_date'] as const;
export const FORMATS = ['json', 'csv'] as const;

/** A validated chart request, with defaults filled in. */
export interface ChartQuery {
  chart: Chart;
  unit: PeriodUnit;
  dateType: (typeof DATE_TYPES)[number];
  segmentation: Dimension | null;
  format: (typeof FORMATS)[number];
  filters: readonly Filter[];
  span: Span;
  /** The span of `compare_date`. */
  compared: Span | null;
  zone: Zone;
  /** The zone in whose days the facts are kept. */
  appZone: Zone;
  /** Whether `zone` is the zone of the app. */
  inAppZone: boolean;
  /** The last microsecond of the request's millisecond, to include what was just committed. Nothing later exists. */
  now: string;
}

/** Returns how many points each series of the answer has, including those of the comparison. */
export function countPoints({ span, compared }: Pick<ChartQuery, 'span' | 'compared'>): number {
  return countBuckets(span) + (compared ? countBuckets(compared) : 0);
}

export interface ChartRequest {
  body: unknown;
  /** The header that names a zone, if it is not blank. */
  zoneHeader: SentHeader | undefined;
  appZone: string;
  now: Date;
}

const MEMBERS = ['filters', 'chart_id', 'period_unit', 'date_type', 'segmentation', 'format'];
const UNKNOWN_MESSAGE = `Unknown field; known fields are: ${MEMBERS.join(', ')}.`;
export const PLURALS: ReadonlyMap<string, PeriodUnit> = new Map(PERIOD_UNITS.map((unit) => [`${unit}s`, unit]));

/** Throws a validation error that names every offending field. */
export function readChartRequest({ body, zoneHeader, appZone, now }: ChartRequest): ChartQuery {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw apiError('body_not_object');
  const members = body as Record<string, unknown>;
  const problems: FieldError[] = [];

  const chartId = readChoice(problems, members, { name: 'chart_id', values: CHART_IDS, fallback: 'revenue' });
  const validChart = problems.length === 0 ? chart(chartId) : undefined;
  const unit = readChoice(problems, members, {
    name: 'period_unit',
    values: PERIOD_UNITS,
    fallback: 'month',
    spellings: PLURALS,
  });
  const dateType = readChoice(problems, members, { name: 'date_type', values: DATE_TYPES, fallback: 'purchase_date' });
  const segmentation = readChoice(problems, members, {
    name: 'segmentation',
    values: validChart ? segmentationsOf(validChart) : EVERY_SEGMENTATION,
    fallback: null,
  });
  const format = readChoice(problems, members, { name: 'format', values: FORMATS, fallback: 'json' });
  refuseUnknown(problems, members);
  const ownZone = zoneOfApp(appZone);
  const zone = readZone(problems, zoneHeader, ownZone);

  const inFilters: FieldError[] = [];
  const { date, compareDate, filters } = readFilters(inFilters, members.filters, { chart: validChart, unit });
  const found = [...inFilters, ...problems];
  if (found.length > 0) throw validationError(found);

  const cut = { unit, zone, now: now.getTime() };
  return {
    chart: chart(chartId),
    unit,
    dateType,
    segmentation: segmentation && dimension(segmentation),
    format,
    filters,
    span: makeSpan(date, cut),
    compared: compareDate && makeSpan(compareDate, cut),
    zone,
    appZone: ownZone,
    inAppZone: zone === ownZone,
    now: now.toISOString().replace('Z', '999Z'),
  };
}

function refuseUnknown(problems: FieldError[], members: Record<string, unknown>): void {
  for (const source of Object.keys(members).filter((name) => !MEMBERS.includes(name))) {
    problems.push({ source, code: 'value_error', message: UNKNOWN_MESSAGE });
  }
}

function readZone(problems: FieldError[], header: SentHeader | undefined, ownZone: Zone): Zone {
  if (!header) return ownZone;
  const zone = findZone(header.value);
  if (zone) return zone;
  const message = header.isRepeated ? REPEATED_MESSAGE : 'Must be the IANA name of a time zone, such as Europe/Berlin.';
  problems.push({ source: header.name, code: 'value_error', message });
  return ownZone;
}
