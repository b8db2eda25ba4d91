// Row 4: how fast pending deliveries go out, compared with the load generator posting the same bodies to the same sink.
import { join } from 'node:path';
import { type Benchmark, type Context, issueKeys, type Keys } from '../context.ts';
import type { Dataset } from '../data/datasets.ts';
import type { LoadJob, LoadResult } from '../load/drive.ts';
import { waitUntil } from '../measure.ts';
import { type Running, runJob, startReference, startService } from '../processes.ts';
import type { Row } from '../report.ts';
import { driveLoad, measureInTurns, rateOf, ratioOf } from '../rounds.ts';
import { GRANT_PATH } from './grants.ts';
import { addEndpoints, countPending, removeEndpoints, resumeEndpoints, suspendEndpoints } from './webhooks.ts';

const ENDPOINTS = 8;
const CONNECTIONS = 64;
const TIMEOUT_MS = 120_000;
const POLL_MS = 20;

interface Received {
  count: number;
  lastAt: number;
}

async function readSink<T>(sink: Running, path: string): Promise<T> {
  const answer = await fetch(`${sink.url}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return answer.json() as Promise<T>;
}

/** Makes grants while every endpoint is suspended, so that their deliveries wait. Returns how many do. */
async function queueDeliveries(
  { size }: Context,
  dataset: Dataset,
  { service, keys, seed }: { service: Running; keys: Keys; seed: number },
): Promise<number> {
  await suspendEndpoints(dataset);
  const requests = { kind: 'grant', path: GRANT_PATH, key: keys.secret, people: dataset.people, seed } as const;
  const count = Math.ceil(size.pendingDeliveries / ENDPOINTS);
  const job = { url: service.url, requests, connections: 16, warmUpSeconds: 0, seconds: 120, count };
  await runJob<LoadJob, LoadResult>('drive.ts', job);
  return countPending(dataset);
}

/**
 * Returns the seconds until the last delivery arrives, once all are settled, so that none is left for the next round.
 */
async function drain(dataset: Dataset, sink: Running, pending: number): Promise<number> {
  const { count } = await readSink<Received>(sink, '/received');
  const began = await resumeEndpoints(dataset);
  const { lastAt } = await readSink<Received>(sink, `/received?count=${count + pending}`).catch((cause) => {
    throw new Error(`${pending} deliveries did not arrive within ${TIMEOUT_MS / 1000} s`, { cause });
  });
  await waitUntil(async () => (await countPending(dataset)) === 0, {
    timeoutMs: TIMEOUT_MS,
    intervalMs: POLL_MS,
    timeoutMessage: `deliveries did not settle within ${TIMEOUT_MS / 1000} s`,
  });
  return (lastAt - began) / 1000;
}

async function run(context: Context): Promise<Row[]> {
  const { size, folder } = context;
  const dataset = await context.large();
  const keys = await issueKeys(dataset);
  const options = (name: string) => ({ databaseUrl: dataset.url, logFile: join(folder, `${name}.log`) });
  const sink = await startReference('sink.ts', options('sink'));
  await removeEndpoints(dataset);
  const addresses = Array.from({ length: ENDPOINTS }, (_, number) => `${sink.url}/${number}`);
  await addEndpoints(dataset, addresses);
  const service = await startService(options('service'));
  let pending = 0;
  const fillAndDrain = async (seed: number) => {
    pending = await queueDeliveries(context, dataset, { service, keys, seed });
    return drain(dataset, sink, pending);
  };
  // Warms up for as long as other benchmarks do before they count: Node.js compiles meanwhile.
  for (let seconds = 0, seed = 1000; seconds < size.warmUpSeconds; seed++) seconds += await fillAndDrain(seed);
  const { drained, direct } = await measureInTurns(context, dataset, {
    drained: async (round) => {
      const seconds = await fillAndDrain(7 + round);
      return { perSecond: pending / seconds };
    },
    direct: async (round) => {
      const bodies = await readSink<string[]>(sink, '/bodies');
      const requests = { kind: 'replay', path: '/0', seed: round, bodies } as const;
      return driveLoad({ size, url: sink.url, connections: CONNECTIONS, requests });
    },
  });
  await service.stop();
  await sink.stop();
  await removeEndpoints(dataset);
  const ratio = ratioOf(drained, direct);
  return [
    {
      id: '4',
      work: `deliveries drained to a local sink, ${pending.toLocaleString('en')} pending, ${ENDPOINTS} endpoints`,
      measured: rateOf(drained),
      against: `the sink under the load generator: ${rateOf(direct)}`,
      ratio,
      goal: '≥ 0.25 ×',
      isReached: ratio >= 0.25,
    },
  ];
}

export const deliveries: Benchmark = { name: 'deliveries', title: 'row 4: sending pending deliveries', run };
