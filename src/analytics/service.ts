// Answers chart requests from the cache, or by computing the chart in one read-only snapshot, and gives up when nobody
// waits for it any more. Other requests are answered between the steps of a chart, each of which may occupy the event
// loop for 0.1 s if there are 500 series.
import { type Kysely, sql } from 'kysely';
import { readCancellably } from '../db/cancellable.ts';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { valueError } from '../errors.ts';
import { versionOf } from '../facts/version.ts';
import { yieldToEventLoop } from '../lib/slices.ts';
import { renderMetrics } from './answer.ts';
import { createAnswerCache, requestKey } from './answer-cache.ts';
import { countBuckets } from './calendar.ts';
import { metricKeysOf } from './catalogue.ts';
import { MAX_CSV_ROWS } from './csv.ts';
import { type FactsState, readFactsState } from './facts-state.ts';
import { readCells, readStoreTitles } from './queries.ts';
import { createRelabelledReader, type ReadRelabelled } from './relabelled/profiles.ts';
import { type ChartQuery, type ChartRequest, countPoints, readChartRequest } from './request.ts';
import { assembleSeries, type Series } from './series.ts';
import type { StoreTitles } from './titles.ts';
import { readValidUntil } from './validity.ts';

const MAX_SERIES = 500;
const MAX_POINTS = 50_000;

/** A computed chart, from which the answer is rendered. */
interface Plot {
  query: ChartQuery;
  series: Series[];
  storeTitles: StoreTitles;
}

/** The state of the app, which is read before its facts. */
interface AppState {
  state: FactsState;
  storeTitles: StoreTitles;
}

async function readAppState(each: Kysely<DB>, app: App, query: ChartQuery): Promise<AppState> {
  const isByStore = query.segmentation?.name === 'store';
  const [state, storeTitles] = await Promise.all([
    readFactsState(each, app, query),
    isByStore ? readStoreTitles(each, app.app_id) : new Map(),
  ]);
  return { state, storeTitles };
}

/** Up to this many cells or points, a step takes less time than a turn of the event loop does while others write. */
const FEW_POINTS = 2_000;

async function readSeries(
  snapshot: Kysely<DB>,
  app: App,
  request: { query: ChartQuery; state: FactsState; signal: AbortSignal; readRelabelled: ReadRelabelled },
): Promise<Series[]> {
  const { query, signal } = request;
  signal.throwIfAborted();
  const cells = await readCells(snapshot, { ...request, app, maxSeries: maxSeriesOf(query) });
  if (query.format === 'csv' && cells.some(({ place }) => place === 'other')) {
    throw valueError(
      'segmentation',
      `The CSV would have more than ${MAX_CSV_ROWS} rows; add a filter or shorten the range.`,
    );
  }
  if (cells.length > FEW_POINTS) await yieldToEventLoop();
  return assembleSeries(query, cells);
}

interface PlotRequest {
  query: ChartQuery;
  signal: AbortSignal;
}

/** Creates the service that answers chart requests and caches JSON answers for repeated ones. */
export function createChartAnswers(deps: Deps) {
  const answers = createAnswerCache();
  const readRelabelled = createRelabelledReader(deps);

  async function readVersion(app: App): Promise<string> {
    const statement = sql<{ version: string }>`select ${versionOf(app.app_key)} as version`;
    // Neither on the pool of charts nor on that of requests, which may wait for locks: a cached answer must not wait
    // for their connections.
    const [row] = await executePrepared(deps.lookupDb, 'fact_version', statement);
    return row!.version;
  }

  /** Returns the cached body for the same request; undefined if anything has changed since. */
  async function findCached(app: App, key: string, now: Date): Promise<Buffer | undefined> {
    const kept = answers.find(key, now);
    return kept && kept.version === (await readVersion(app)) ? kept.body : undefined;
  }

  /** Computes a chart without caching it. Throws `value_error` if a CSV would be too long. */
  async function plotChart(app: App, { query, signal }: PlotRequest): Promise<Plot> {
    return readCancellably(deps, signal, {
      first: (each) => readAppState(each, app, query),
      rest: async (snapshot, { state, storeTitles }) => ({
        query,
        series: await readSeries(snapshot, app, { query, state, signal, readRelabelled }),
        storeTitles,
      }),
    });
  }

  /** Computes the body of the answer and caches it under the key. */
  async function compute(app: App, key: string, { query, signal }: PlotRequest): Promise<Buffer> {
    return readCancellably(deps, signal, {
      first: (each) => Promise.all([readAppState(each, app, query), readValidUntil(each, app, query)]),
      async rest(snapshot, [{ state, storeTitles }, until]) {
        const series = await readSeries(snapshot, app, { query, state, signal, readRelabelled });
        const points = series.length * countPoints(query);
        if (points > FEW_POINTS) await yieldToEventLoop();
        const data = renderMetrics(query, series, storeTitles);
        if (points > FEW_POINTS) await yieldToEventLoop();
        const body = Buffer.from(JSON.stringify({ data }));
        signal.throwIfAborted();
        answers.keep(key, { body, version: state.version, from: Date.parse(query.now) * 1000, until });
        return body;
      },
    });
  }

  return {
    plotChart,
    /**
     * Returns the body of a JSON answer, or the plot that a CSV is rendered from. Throws if the request is invalid or
     * the CSV would be too long.
     */
    async answer(
      app: App,
      request: ChartRequest & { isSmall: boolean },
      disconnected: AbortSignal,
    ): Promise<{ json: Buffer } | Plot> {
      // A large body is validated first: hashing it for the lookup costs twice as much as finding out that it is wrong.
      const validated = request.isSmall ? undefined : readChartRequest(request);
      const key = requestKey(app, request);
      const kept = await findCached(app, key, request.now);
      if (kept) return { json: kept };
      const query = validated ?? readChartRequest(request);
      // The pool's timeout applies to each statement separately.
      const timeout = AbortSignal.timeout(deps.config.ANALYTICS_TIMEOUT_MS);
      const signal = AbortSignal.any([disconnected, timeout]);
      try {
        if (query.format === 'csv') return await plotChart(app, { query, signal });
        return { json: await compute(app, key, { query, signal }) };
      } catch (error) {
        const { chart_id } = query.chart;
        if (timeout.aborted)
          deps.log.warn({ app_id: app.app_id, chart_id }, 'a chart took longer than ANALYTICS_TIMEOUT_MS');
        throw error;
      }
    },
  };
}

/** Returns how many series an answer has room for, including the total and "other". */
function maxSeriesOf(query: ChartQuery): number {
  if (query.format === 'csv') {
    const rows = Math.max(...[query.span, query.compared].map((span) => (span ? countBuckets(span) : 0)), 1);
    return Math.floor(MAX_CSV_ROWS / metricKeysOf(query.chart).length / rows);
  }
  return Math.min(MAX_SERIES, Math.floor(MAX_POINTS / Math.max(countPoints(query), 1)));
}
