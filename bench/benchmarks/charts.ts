// Rows 6 to 8: charts compared with DuckDB. Rows 6b and 10 compare charts with themselves: while facts are written, and
// with a tenth of the facts.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHART_IDS } from '../../src/analytics/catalogue.ts';
import { type ChartClient, createChartClient } from '../charts/ask.ts';
import { askAll, type Compared, compareAnswers } from '../charts/compare.ts';
import { askedEarlier, describe, listFiltered, listOpen, listPlain, type Question } from '../charts/questions.ts';
import { type Benchmark, type Context, issueKeys, type Keys, RUN_SEED } from '../context.ts';
import type { Dataset } from '../data/datasets.ts';
import { FACTS, warm } from '../data/warm.ts';
import { query } from '../database.ts';
import type { LoadJob, LoadResult } from '../load/drive.ts';
import { median, waitUntil } from '../measure.ts';
import { type Running, startJob, startService } from '../processes.ts';
import { type Duck, openDuck } from '../reference/duckdb.ts';
import { inMs, type Row } from '../report.ts';

const PAYERS = ['arppu'] as const;
const ADDITIVE = CHART_IDS.filter((id) => id !== 'arppu');
const OTHER_ZONE = 'America/Los_Angeles';

interface Charting {
  dataset: Dataset;
  service: Running;
  client: ChartClient;
  keys: Keys;
}

/** Does work with the service on a data set, once its totals are complete and its connections open. */
async function withService<T>(
  context: Context,
  dataset: Dataset,
  work: (charting: Charting) => Promise<T>,
): Promise<T> {
  const keys = await issueKeys(dataset);
  const logFile = join(context.folder, `charts-${dataset.name}.log`);
  const service = await startService({ databaseUrl: dataset.url, logFile });
  await waitUntilSettled(dataset);
  const client = await createChartClient(service.url, keys.secret);
  try {
    return await work({ dataset, service, client, keys });
  } finally {
    client.close();
    await service.stop();
  }
}

const SETTLE_TIMEOUT_MS = 600_000;

/**
 * Waits until the service has finished the background work left by earlier writes, which has no part in a quiet
 * measurement. Throws if it does not finish in time.
 */
async function waitUntilSettled({ url }: Dataset): Promise<void> {
  const isSettled = async () => {
    const [row] = await query(
      url,
      `select exists (select from fact_pending) or exists (select from fact_retired) or exists (select from fact_moved)
         or exists (select from label_pending) as is_busy`,
    );
    return row?.is_busy !== true;
  };
  await waitUntil(isSettled, {
    timeoutMs: SETTLE_TIMEOUT_MS,
    intervalMs: 500,
    timeoutMessage: `the facts did not settle within ${SETTLE_TIMEOUT_MS / 1000} s; figures measured meanwhile would mean nothing`,
  });
}

function listQuestions({ size, isAll }: Context, { end }: Dataset) {
  const count = isAll ? undefined : size.questions;
  const plain = listPlain(end, count);
  const open = listOpen(end, count);
  const filtered = listFiltered(end, { charts: ADDITIVE, count: size.questions, seed: 1 });
  const payers = listFiltered(end, { charts: PAYERS, count: Math.ceil(size.questions / 3), minFilters: 0, seed: 2 });
  return { plain, open, filtered, payers };
}

/** Returns the questions about an earlier time, so that no answers to the questions themselves are kept. */
function warmUp(questions: readonly Question[], { end }: Dataset): Question[] {
  return questions.map((question) => askedEarlier(question, end));
}

interface Goal {
  id: string;
  work: string;
  goal: string;
  /** Limits for the ratio of the medians and for a single answer; absent if the figure is only reported. */
  limits?: { ratio: number; ms: number };
}

function rowOf(compared: readonly Compared[], { id, work, goal, limits }: Goal): Row {
  const service = compared.map(({ serviceMs }) => serviceMs);
  const duck = compared.map(({ duckMs }) => duckMs);
  const ratio = median(service) / median(duck);
  return {
    id,
    work: `${work}, ${compared.length} questions`,
    measured: `median ${inMs(median(service))}, at most ${inMs(Math.max(...service))}`,
    against: `DuckDB: median ${inMs(median(duck))}, at most ${inMs(Math.max(...duck))}`,
    ratio,
    goal,
    ...(limits && { isReached: ratio <= limits.ratio && Math.max(...service) <= limits.ms }),
  };
}

function noteSlowest({ note }: Context, id: string, compared: readonly Compared[]): void {
  const slowest = [...compared].sort((a, b) => b.serviceMs - a.serviceMs).slice(0, 3);
  const words = slowest.map(
    ({ question, serviceMs, duckMs }) => `${describe(question)} (${inMs(serviceMs)}, DuckDB ${inMs(duckMs)})`,
  );
  note(`Row ${id}, slowest: ${words.join('; ')}`);
}

async function compareWithDuck(context: Context, charting: Charting, duck: Duck): Promise<Row[]> {
  const { dataset, client } = charting;
  const { plain, open, filtered, payers } = listQuestions(context, dataset);
  const parts = { client, duck, end: dataset.end };
  const answers = {
    plain: await compareAnswers(plain, parts),
    open: await compareAnswers(open, parts),
    filtered: await compareAnswers(filtered, parts),
    payers: await compareAnswers(payers, parts),
  };
  for (const [id, name] of [
    ['6', 'plain'],
    ['6c', 'open'],
    ['7', 'filtered'],
    ['7b', 'payers'],
  ] as const)
    noteSlowest(context, id, answers[name]);
  const zoned = await askAll(plain, client, OTHER_ZONE);
  const again = answers.plain.map(({ againMs }) => againMs);
  return [
    rowOf(answers.plain, {
      id: '6',
      work: 'charts, unfiltered',
      goal: 'median at or below DuckDB’s',
      limits: { ratio: 1, ms: Number.POSITIVE_INFINITY },
    }),
    rowOf(answers.open, { id: '6c', work: '6 by month, with the month that is not over', goal: 'reported' }),
    rowOf(answers.filtered, {
      id: '7',
      work: 'charts, one to three filters',
      goal: '≤ 3 ×, none over 1 s',
      limits: { ratio: 3, ms: 1000 },
    }),
    rowOf(answers.payers, { id: '7b', work: 'arppu', goal: '≤ 5 ×, none over 2 s', limits: { ratio: 5, ms: 2000 } }),
    {
      id: '7c',
      work: `6 in another zone (${OTHER_ZONE})`,
      measured: `median ${inMs(median(zoned))}, at most ${inMs(Math.max(...zoned))}`,
      against: '–',
      goal: 'reported',
    },
    {
      id: '8',
      work: 'the same charts asked again, nothing changed',
      measured: `median ${inMs(median(again))}, at most ${inMs(Math.max(...again))}`,
      against: '–',
      goal: '≤ 3 ms',
      isReached: median(again) <= 3,
    },
  ];
}

async function runCharts(context: Context): Promise<Row[]> {
  const dataset = await context.large();
  context.log('exporting the facts to DuckDB');
  const duck = await openDuck(dataset, context.folder);
  try {
    return await withService(context, dataset, (charting) => compareWithDuck(context, charting, duck));
  } finally {
    duck.close();
  }
}

export const charts: Benchmark = {
  name: 'charts',
  title: 'rows 6, 6c, 7, 7b, 7c and 8: charts, compared with DuckDB',
  run: runCharts,
};

const BUSY_SECONDS = 600;

function startWriting({ service, keys, dataset }: Charting) {
  const load = { url: service.url, warmUpSeconds: 0, seconds: BUSY_SECONDS };
  const posts = { people: dataset.people, seed: RUN_SEED };
  return [
    startJob<LoadJob, LoadResult>('drive.ts', {
      ...load,
      connections: 64,
      pace: 500,
      requests: { ...posts, kind: 'attribution', path: '/api/v2/web-api/attribution/', key: keys.public },
    }),
    startJob<LoadJob, LoadResult>('drive.ts', {
      ...load,
      connections: 8,
      pace: 50,
      requests: {
        ...posts,
        kind: 'transaction',
        path: '/api/v2/server-side-api/purchase/set/transaction/',
        key: keys.secret,
      },
    }),
  ];
}

async function runBusy(context: Context): Promise<Row[]> {
  const dataset = await context.large();
  await warm(dataset, FACTS);
  return withService(context, dataset, async (charting) => {
    const { plain } = listQuestions(context, dataset);
    const { client } = charting;
    await askAll(warmUp(plain.slice(0, 10), dataset), client);
    const quiet = median(await askAll(plain, client));
    const jobs = startWriting(charting);
    // For as long as in rows 1 to 3, while Node.js compiles what the writers ask for.
    await sleep(context.size.warmUpSeconds * 1000);
    const busy = await askAll(plain, client);
    for (const { finish } of jobs) finish();
    const [posts, transactions] = await Promise.all(jobs.map(({ result }) => result));
    const failed = (posts?.failed ?? 0) + (transactions?.failed ?? 0);
    if (failed > 0) throw new Error(`${failed} writes failed while charts were measured`);
    // If the writes are slower than asked for, the row says nothing.
    const isAtPace = (posts?.perSecond ?? 0) >= 475 && (transactions?.perSecond ?? 0) >= 47;
    const rates = [posts, transactions].map((one) => Math.round(one?.perSecond ?? 0));
    return [
      {
        id: '6b',
        work: `6 while ${rates[0]} changed attributions/s and ${rates[1]} transactions/s are written`,
        measured: `median ${inMs(median(busy))}, at most ${inMs(Math.max(...busy))}`,
        against: `6 without writes: median ${inMs(quiet)}`,
        ratio: median(busy) / quiet,
        goal: '≤ 3 ×',
        isReached: isAtPace && median(busy) <= 3 * quiet,
      },
    ];
  });
}

export const busy: Benchmark = { name: 'busy', title: 'row 6b: charts while facts are written', run: runBusy };

/**
 * Asks each question as rows 6 and 7 do, of both data sets in turn: the machine's pace may double from one minute to
 * the next.
 */
async function askInTurns(questions: readonly Question[], small: Charting, large: Charting) {
  const times = { small: [] as number[], large: [] as number[] };
  for (const question of questions) {
    for (const [name, { client, dataset }] of [
      ['small', small],
      ['large', large],
    ] as const) {
      await client.ask(askedEarlier(question, dataset.end));
      times[name].push((await client.ask(question)).ms);
    }
  }
  return { smallMs: median(times.small), largeMs: median(times.large) };
}

async function runGrowth(context: Context): Promise<Row[]> {
  const [small, large] = [await context.small(), await context.large()];
  const { plain, filtered } = listQuestions(context, large);
  return withService(context, small, (tenth) =>
    withService(context, large, async (whole) => {
      const row = async (id: string, questions: readonly Question[], goal: string, maxRatio: number): Promise<Row> => {
        const { smallMs, largeMs } = await askInTurns(questions, tenth, whole);
        return {
          id: '10',
          work: `growth of ${id} with ten times the facts`,
          measured: `median ${inMs(largeMs)}`,
          against: `a tenth of the facts: median ${inMs(smallMs)}`,
          ratio: largeMs / smallMs,
          goal,
          isReached: largeMs <= maxRatio * smallMs,
        };
      };
      return [await row('6', plain, '≤ 1.5 ×', 1.5), await row('7', filtered, 'at most linear (10 ×)', 10)];
    }),
  );
}

export const growth: Benchmark = { name: 'growth', title: 'row 10: cost as facts grow', run: runGrowth };
