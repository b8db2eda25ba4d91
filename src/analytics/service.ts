// A chart from question to series: one statement in one read-only snapshot, given up when nobody waits for it.
import type { App, Deps } from '../deps.ts';
import { valueError } from '../errors.ts';
import { countBuckets } from './calendar.ts';
import { keysOf } from './catalogue.ts';
import { MOST_CSV_ROWS } from './csv.ts';
import { areTotalsWorthwhile, findCells, listStoreTitles } from './queries.ts';
import type { ChartQuery } from './request.ts';
import { assembleSeries, type Series } from './series.ts';
import { readSnapshot } from './snapshot.ts';
import type { StoreTitles } from './titles.ts';

const MOST_SERIES = 500;
const MOST_POINTS = 50_000;

export interface Plot {
  series: Series[];
  storeTitles: StoreTitles;
}

/** Throws `value_error` where a CSV would be too long. */
export async function plotChart(deps: Deps, app: App, query: ChartQuery, signal: AbortSignal): Promise<Plot> {
  return readSnapshot(deps, signal, async (trx) => {
    const cells = await findCells(trx, {
      query,
      owner: app,
      mostSeries: mostSeriesOf(query),
      usesTotals: await areTotalsWorthwhile(trx, app.app_key),
    });
    if (query.format === 'csv' && cells.some(({ place }) => place === 'other')) {
      throw valueError(
        'segmentation',
        `The CSV would have more than ${MOST_CSV_ROWS} rows; filter or shorten the range.`,
      );
    }
    const isByStore = query.segmentation?.name === 'store';
    const storeTitles: StoreTitles = isByStore ? await listStoreTitles(trx, app.app_id) : new Map();
    return { series: assembleSeries(query, cells), storeTitles };
  });
}

/** How many series an answer has room for, the total and "other" too. */
function mostSeriesOf({ chart, format, span, compared }: ChartQuery): number {
  const [buckets, comparedBuckets] = [countBuckets(span), compared ? countBuckets(compared) : 0];
  if (format === 'csv') {
    return Math.floor(MOST_CSV_ROWS / keysOf(chart).length / Math.max(buckets, comparedBuckets, 1));
  }
  return Math.min(MOST_SERIES, Math.floor(MOST_POINTS / Math.max(buckets + comparedBuckets, 1)));
}
