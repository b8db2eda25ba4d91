// A chart from question to series: computed in one read-only snapshot and given up when nobody waits for it; or kept from when it
// was asked before. Other requests are answered between its steps, each of which may take the event loop 0.1 s where there are 500 series.
import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { readCancellably } from '../db/cancellable.ts';
import { overlapping } from '../db/overlap.ts';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { valueError } from '../errors.ts';
import { versionOf } from '../facts/version.ts';
import { renderAnswer } from './answer.ts';
import { countBuckets } from './calendar.ts';
import { keysOf } from './catalogue.ts';
import { MOST_CSV_ROWS } from './csv.ts';
import { type FactsState, readFactsState } from './facts-state.ts';
import { createKeptAnswers } from './kept-answers.ts';
import { findCells, listStoreTitles } from './queries.ts';
import type { ChartQuery } from './request.ts';
import { assembleSeries, type Series } from './series.ts';
import type { StoreTitles } from './titles.ts';
import { findValidity } from './validity.ts';

const MOST_SERIES = 500;
const MOST_POINTS = 50_000;

interface Plot {
  series: Series[];
  storeTitles: StoreTitles;
}

async function plot(
  trx: Kysely<DB>,
  app: App,
  { query, facts, signal }: { query: ChartQuery; facts: FactsState; signal: AbortSignal },
): Promise<Plot> {
  signal.throwIfAborted();
  const cells = await findCells(trx, { query, owner: app, mostSeries: mostSeriesOf(query), facts, signal });
  if (query.format === 'csv' && cells.some(({ place }) => place === 'other')) {
    throw valueError(
      'segmentation',
      `The CSV would have more than ${MOST_CSV_ROWS} rows; filter or shorten the range.`,
    );
  }
  const isByStore = query.segmentation?.name === 'store';
  const storeTitles: StoreTitles = isByStore ? await listStoreTitles(trx, app.app_id) : new Map();
  await setImmediate();
  return { series: assembleSeries(query, cells), storeTitles };
}

/** Throws `value_error` where a CSV would be too long. */
export async function plotChart(deps: Deps, app: App, query: ChartQuery, signal: AbortSignal): Promise<Plot> {
  return readCancellably(deps, signal, async (trx) =>
    plot(trx, app, { query, facts: await readFactsState(trx, app, query), signal }),
  );
}

interface Question {
  /** Of the request. */
  key: string;
  query: ChartQuery;
  signal: AbortSignal;
}

/** Answers charts in JSON, and keeps the answers for when the same is asked again. */
export function createChartAnswers(deps: Deps) {
  const answers = createKeptAnswers();

  async function readVersion(app: App): Promise<string> {
    const statement = sql<{ version: string }>`select ${versionOf(app.app_key)} as version`;
    const [row] = await executePrepared(deps.analyticsDb, 'fact_version', statement);
    return row!.version;
  }

  return {
    /** The body of the answer to the same request as before: JSON; nothing if anything has changed since. */
    async find(app: App, key: string, now: Date): Promise<Buffer | undefined> {
      const kept = answers.find(key, now);
      return kept && kept.version === (await readVersion(app)) ? kept.body : undefined;
    },
    /** The body of the answer: JSON. */
    async compute(app: App, { key, query, signal }: Question): Promise<Buffer> {
      return readCancellably(deps, signal, async (trx) => {
        const [facts, until] = await overlapping(trx, (each) => [
          readFactsState(each, app, query),
          findValidity(each, app, query),
        ]);
        const { series, storeTitles } = await plot(trx, app, { query, facts, signal });
        await setImmediate();
        const data = renderAnswer(query, series, storeTitles);
        await setImmediate();
        const body = Buffer.from(JSON.stringify({ data }));
        signal.throwIfAborted();
        answers.keep(key, { body, version: facts.version, until });
        return body;
      });
    },
  };
}

/** How many series an answer has room for, the total and "other" too. */
function mostSeriesOf({ chart, format, span, compared }: ChartQuery): number {
  const [buckets, comparedBuckets] = [countBuckets(span), compared ? countBuckets(compared) : 0];
  if (format === 'csv') {
    return Math.floor(MOST_CSV_ROWS / keysOf(chart).length / Math.max(buckets, comparedBuckets, 1));
  }
  return Math.min(MOST_SERIES, Math.floor(MOST_POINTS / Math.max(buckets + comparedBuckets, 1)));
}
