// A chart from question to series: computed in one read-only snapshot and given up when nobody waits for it; or kept from when it
// was asked before. Other requests are answered between its steps, each of which may take the event loop 0.1 s where there are 500 series.
import { type Kysely, sql } from 'kysely';
import { readCancellably } from '../db/cancellable.ts';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { valueError } from '../errors.ts';
import { versionOf } from '../facts/version.ts';
import { giveWay } from '../lib/slices.ts';
import { renderAnswer } from './answer.ts';
import { createAnswerCache, questionKey } from './answer-cache.ts';
import { countBuckets } from './calendar.ts';
import { metricKeysOf } from './catalogue.ts';
import { MOST_CSV_ROWS } from './csv.ts';
import { type FactsState, readFactsState } from './facts-state.ts';
import { readCells, readStoreTitles } from './queries.ts';
import { createRelabelled, type ReadRelabelled } from './relabelled/waiting.ts';
import { type ChartQuery, type ChartRequest, countPoints, readChartRequest } from './request.ts';
import { assembleSeries, type Series } from './series.ts';
import type { StoreTitles } from './titles.ts';
import { readValidUntil } from './validity.ts';

const MOST_SERIES = 500;
const MOST_POINTS = 50_000;

/** What an answer is made of. */
interface Plot {
  query: ChartQuery;
  series: Series[];
  storeTitles: StoreTitles;
}

/** What is known of the app before the facts are read. */
interface Known {
  state: FactsState;
  storeTitles: StoreTitles;
}

async function readKnown(each: Kysely<DB>, app: App, query: ChartQuery): Promise<Known> {
  const isByStore = query.segmentation?.name === 'store';
  const [state, storeTitles] = await Promise.all([
    readFactsState(each, app, query),
    isByStore ? readStoreTitles(each, app.app_id) : new Map(),
  ]);
  return { state, storeTitles };
}

/** A step with no more takes less than a turn of the event loop does while others write. */
const FEW_POINTS = 2_000;

async function readSeries(
  snapshot: Kysely<DB>,
  app: App,
  asked: { query: ChartQuery; state: FactsState; signal: AbortSignal; readRelabelled: ReadRelabelled },
): Promise<Series[]> {
  const { query, signal } = asked;
  signal.throwIfAborted();
  const cells = await readCells(snapshot, { ...asked, owner: app, mostSeries: mostSeriesOf(query) });
  if (query.format === 'csv' && cells.some(({ place }) => place === 'other')) {
    throw valueError(
      'segmentation',
      `The CSV would have more than ${MOST_CSV_ROWS} rows; filter or shorten the range.`,
    );
  }
  if (cells.length > FEW_POINTS) await giveWay();
  return assembleSeries(query, cells);
}

interface Question {
  query: ChartQuery;
  signal: AbortSignal;
}

/** Answers charts, and keeps the answers in JSON for when the same is asked again. */
export function createChartAnswers(deps: Deps) {
  const answers = createAnswerCache();
  const readRelabelled = createRelabelled(deps);

  async function readVersion(app: App): Promise<string> {
    const statement = sql<{ version: string }>`select ${versionOf(app.app_key)} as version`;
    // Not where charts are computed, nor where requests wait for locks: a kept answer must not wait for their connections.
    const [row] = await executePrepared(deps.lookupDb, 'fact_version', statement);
    return row!.version;
  }

  /** The body of the answer to the same request as before; nothing if anything has changed since. */
  async function find(app: App, key: string, now: Date): Promise<Buffer | undefined> {
    const kept = answers.find(key, now);
    return kept && kept.version === (await readVersion(app)) ? kept.body : undefined;
  }

  /** Throws `value_error` where a CSV would be too long. */
  async function plotChart(app: App, { query, signal }: Question): Promise<Plot> {
    return readCancellably(deps, signal, {
      first: (each) => readKnown(each, app, query),
      rest: async (snapshot, { state, storeTitles }) => ({
        query,
        series: await readSeries(snapshot, app, { query, state, signal, readRelabelled }),
        storeTitles,
      }),
    });
  }

  /** The body of the answer, kept under this key. */
  async function compute(app: App, key: string, { query, signal }: Question): Promise<Buffer> {
    return readCancellably(deps, signal, {
      first: (each) => Promise.all([readKnown(each, app, query), readValidUntil(each, app, query)]),
      async rest(snapshot, [{ state, storeTitles }, until]) {
        const series = await readSeries(snapshot, app, { query, state, signal, readRelabelled });
        const points = series.length * countPoints(query);
        if (points > FEW_POINTS) await giveWay();
        const data = renderAnswer(query, series, storeTitles);
        if (points > FEW_POINTS) await giveWay();
        const body = Buffer.from(JSON.stringify({ data }));
        signal.throwIfAborted();
        answers.keep(key, { body, version: state.version, from: Date.parse(query.now) * 1000, until });
        return body;
      },
    });
  }

  return {
    plotChart,
    /** The body of an answer in JSON, or what a CSV is made of. Throws what is wrong with the question, or where the CSV would be too long. */
    async answer(
      app: App,
      asked: ChartRequest & { isSmall: boolean },
      departure: AbortSignal,
    ): Promise<{ json: Buffer } | Plot> {
      // A large body is judged first: to hash it for the look-up costs twice as much as to find that it is wrong.
      const judged = asked.isSmall ? undefined : readChartRequest(asked);
      const key = questionKey(app, asked);
      const kept = await find(app, key, asked.now);
      if (kept) return { json: kept };
      const query = judged ?? readChartRequest(asked);
      // The time-out of the pool bounds each of its statements alone.
      const signal = AbortSignal.any([departure, AbortSignal.timeout(deps.config.ANALYTICS_TIMEOUT_MS)]);
      return query.format === 'json'
        ? { json: await compute(app, key, { query, signal }) }
        : plotChart(app, { query, signal });
    },
  };
}

/** How many series an answer has room for, the total and "other" too. */
function mostSeriesOf(query: ChartQuery): number {
  if (query.format === 'csv') {
    const rows = Math.max(...[query.span, query.compared].map((span) => (span ? countBuckets(span) : 0)), 1);
    return Math.floor(MOST_CSV_ROWS / metricKeysOf(query.chart).length / rows);
  }
  return Math.min(MOST_SERIES, Math.floor(MOST_POINTS / Math.max(countPoints(query), 1)));
}
