// Renders series as CSV (RFC 4180), one chunk of text per series and key. A cell that a spreadsheet would run as a
// formula is defused. Pure.
import { formatMicros } from '../lib/money.ts';
import { formatDate, listStarts } from './calendar.ts';
import { metricKeysOf, unitOf } from './catalogue.ts';
import type { ChartQuery } from './request.ts';
import type { Series } from './series.ts';
import { type StoreTitles, titleOfSeries } from './titles.ts';

export const MAX_CSV_ROWS = 1_000_000;

const COLUMNS = ['chart_id', 'metric', 'series', 'segment', 'segment_title', 'period_start', 'value'];
const COMPARE_COLUMNS = ['compare_period_start', 'compare_value'];

/** For the API reference. */
export const CSV_WORDS =
  `One row per point: ${COLUMNS.join(', ')}; with compare_date also ${COMPARE_COLUMNS.join(', ')}. ` +
  `A request whose CSV would have more than ${MAX_CSV_ROWS} rows is refused.`;

export function csvFileName({ chart, span }: ChartQuery): string {
  return `${chart.chart_id}_${formatDate(span.range.first)}_${formatDate(span.range.last)}.csv`;
}

export function* csvChunks(query: ChartQuery, series: readonly Series[], titles: StoreTitles): Generator<string> {
  const { chart, compared, segmentation } = query;
  const starts = listStarts(query.span, query.zone);
  const comparedStarts = compared ? listStarts(compared, query.zone) : [];
  const show = (value: bigint) => (unitOf(chart) === 'USD' ? formatMicros(value) : String(value));
  yield line(compared ? [...COLUMNS, ...COMPARE_COLUMNS] : COLUMNS);

  for (const [key, metric] of metricKeysOf(chart).entries()) {
    for (const one of series) {
      const { main, compared: other } = one.lines[key]!;
      const about = [
        chart.chart_id,
        metric,
        one.place,
        text(one.segment),
        text(titleOfSeries(segmentation, one, titles)),
      ];
      const cells = (from: readonly string[], values: readonly bigint[], i: number) =>
        i < from.length ? [from[i]!, show(values[i]!)] : ['', ''];
      let chunk = '';
      for (let i = 0; i < Math.max(starts.length, comparedStarts.length); i++) {
        const pair = other ? cells(comparedStarts, other.values, i) : [];
        chunk += line([...about, ...cells(starts, main.values, i), ...pair]);
      }
      yield chunk;
    }
  }
}

/** Returns free text as a cell; an apostrophe keeps spreadsheets from running it as a formula. */
function text(value: string): string {
  return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
}

function line(cells: readonly string[]): string {
  return `${cells.map(quote).join(',')}\r\n`;
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
