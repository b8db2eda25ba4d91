// The `filters` member of a chart request (interface 4.2, MetricsFilters): the dates and the dimensions.
import type { FieldError } from '../errors.ts';
import { isStorableText, lengthOf, TEXT_MESSAGE } from '../lib/text.ts';
import { type DateRange, lastDayOfYears, listEdges, type PeriodUnit, parseDate } from './calendar.ts';
import { type Chart, filtersOf } from './catalogue.ts';
import { FILTERS } from './chart-options.ts';
import { type Dimension, type DimensionName, dimension, readFilterValue } from './dimensions.ts';

/** Selects facts whose dimension has one of the values. The empty value means none. */
export interface Filter {
  dimension: Dimension;
  values: readonly string[];
}

interface ReadFilters {
  date: DateRange;
  compareDate: DateRange | null;
  filters: Filter[];
}

interface ChartChoice {
  /** Undefined if `chart_id` is wrong; then every filter that some chart takes is accepted. */
  chart: Chart | undefined;
  unit: PeriodUnit;
}

export const MAX_YEARS = 10;
export const MAX_BUCKETS = 1000;
export const MAX_VALUES = 1000;
export const MAX_CHARACTERS = 500;
const NO_RANGE: DateRange = { first: 0, last: 0 };

/** Notes a problem with a member or, if the name is null, with all of `filters`. */
type Note = (name: string | null, code: FieldError['code'], message: string) => undefined;

/** Reads `filters`. Notes problems in the order of the filter table, unknown members last. */
export function readFilters(problems: FieldError[], value: unknown, { chart, unit }: ChartChoice): ReadFilters {
  const note: Note = (name, code, message) => {
    problems.push({ source: name === null ? 'filters' : `filters.${name}`, code, message });
  };
  const nothing = { date: NO_RANGE, compareDate: null, filters: [] };
  if (value === null || value === undefined) return note(null, 'missing', 'The field filters is required.') ?? nothing;
  if (typeof value !== 'object' || Array.isArray(value))
    return note(null, 'type_error', 'Must be an object.') ?? nothing;

  const members = value as Record<string, unknown>;
  const { dimensions, compares } = chart ? filtersOf(chart) : FILTERS.C;
  const allowed: readonly string[] = ['date', ...(compares ? ['compare_date'] : []), ...dimensions];
  const words = `This chart does not support this filter; it supports: ${allowed.join(', ')}.`;
  const refuse = (name: string) => note(name, 'value_error', words);
  const refuseGiven = (name: string) => (isGiven(members, name) ? refuse(name) : undefined);

  if (!isGiven(members, 'date')) note('date', 'missing', 'The field filters.date is required.');
  const date = readRange(note, members, { name: 'date', unit });
  const compareDate = compares ? readRange(note, members, { name: 'compare_date', unit }) : refuseGiven('compare_date');
  const filters = EVERY_FILTER.flatMap((name) => {
    const filter = dimensions.includes(name) ? readDimension(note, members, name) : refuseGiven(name);
    return filter ?? [];
  });
  for (const name of Object.keys(members).filter((one) => !KNOWN.has(one))) refuse(name);
  return { date: date ?? NO_RANGE, compareDate: compareDate ?? null, filters };
}

const EVERY_FILTER = FILTERS.C.dimensions;
const KNOWN: ReadonlySet<string> = new Set(['date', 'compare_date', ...EVERY_FILTER]);

function isGiven(members: Record<string, unknown>, name: string): boolean {
  return (members[name] ?? null) !== null;
}

function readTexts(note: Note, members: Record<string, unknown>, name: string): string[] | undefined {
  const value = members[name] ?? null;
  if (value === null) return undefined;
  const isTexts = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (!isTexts) return note(name, 'type_error', 'Must be an array of strings.');
  return value.every(isStorableText) ? value : note(name, 'value_error', TEXT_MESSAGE);
}

function readRange(
  note: Note,
  members: Record<string, unknown>,
  { name, unit }: { name: string; unit: PeriodUnit },
): DateRange | undefined {
  const texts = readTexts(note, members, name);
  if (!texts) return undefined;
  if (texts.length < 1 || texts.length > 2)
    return note(name, 'value_error', 'Must be one day, or a first and a last day.');
  const [first, last] = [parseDate(texts[0]!), parseDate(texts.at(-1)!)];
  if (first === undefined || last === undefined) {
    return note(name, 'datetime', 'Must be dates of the form YYYY-MM-DD.');
  }
  if (first > last) return note(name, 'value_error', 'The first day must not be after the last.');
  if (last > lastDayOfYears(first, MAX_YEARS)) {
    return note(name, 'value_error', `Must not be longer than ${MAX_YEARS} years.`);
  }
  if (listEdges({ first, last }, unit).length - 1 > MAX_BUCKETS) {
    return note(name, 'value_error', `Must not have more than ${MAX_BUCKETS} buckets of the period_unit.`);
  }
  return { first, last };
}

function readDimension(note: Note, members: Record<string, unknown>, name: DimensionName): Filter | undefined {
  const texts = readTexts(note, members, name);
  if (!texts || texts.length === 0) return undefined;
  if (texts.length > MAX_VALUES) return note(name, 'value_error', `Must have at most ${MAX_VALUES} values.`);
  if (texts.some((text) => lengthOf(text) > MAX_CHARACTERS)) {
    return note(name, 'value_error', `Values must have at most ${MAX_CHARACTERS} characters.`);
  }
  const chosen = dimension(name);
  const values = texts.map((text) => readFilterValue(chosen, text));
  const isKnown = values.every((one) => one !== undefined);
  if (isKnown) return { dimension: chosen, values };
  return chosen.closed
    ? note(name, 'enum', `Must be one of: ${[...chosen.closed, ...(chosen.spellings?.keys() ?? [])].join(', ')}.`)
    : note(name, 'value_error', 'Must be 2-letter country codes (ISO 3166-1).');
}
