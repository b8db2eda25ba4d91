// Row 4: how fast waiting deliveries go out, beside the same bodies posted to the same sink by the load generator.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, issueKeys, type Keys, type Work } from '../context.ts';
import type { Dataset } from '../data/datasets.ts';
import type { Drive, Driven } from '../load/drive.ts';
import { type Running, runJob, startReference, startService } from '../processes.ts';
import { perSecond, type Row } from '../report.ts';
import { driveLoad } from './attribution.ts';
import { GRANT_PATH } from './grants.ts';
import { addEndpoints, countWaiting, removeEndpoints, resumeEndpoints, suspendEndpoints } from './webhooks.ts';

const ENDPOINTS = 8;
const CONNECTIONS = 64;
const LONGEST_MS = 120_000;
const POLL_MS = 20;

interface Received {
  count: number;
  lastAt: number;
}

async function readSink<T>(sink: Running, path: string): Promise<T> {
  return (await fetch(`${sink.url}${path}`)).json() as Promise<T>;
}

/** Grants while every endpoint is suspended: their deliveries wait. */
async function fillOutbox({ size }: Context, dataset: Dataset, service: Running, keys: Keys): Promise<number> {
  await suspendEndpoints(dataset);
  const requests = { kind: 'grant', path: GRANT_PATH, key: keys.secret, people: dataset.people, seed: 7 } as const;
  const count = Math.ceil(size.waitingDeliveries / ENDPOINTS);
  const job = { url: service.url, requests, connections: 16, warmUpSeconds: 0, seconds: 120, count };
  await runJob<Drive, Driven>('drive.ts', job);
  return countWaiting(dataset);
}

async function drain(dataset: Dataset, sink: Running, waiting: number): Promise<number> {
  const before = (await readSink<Received>(sink, '/received')).count;
  const began = Date.now();
  await resumeEndpoints(dataset);
  while (Date.now() - began < LONGEST_MS) {
    const { count, lastAt } = await readSink<Received>(sink, '/received');
    if (count - before >= waiting) return (lastAt - began) / 1000;
    await sleep(POLL_MS);
  }
  throw new Error(`${waiting} deliveries did not arrive within ${LONGEST_MS / 1000} s`);
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
  const waiting = await fillOutbox(context, dataset, service, keys);
  const seconds = await drain(dataset, sink, waiting);
  await service.stop();
  const bodies = await readSink<string[]>(sink, '/bodies');
  const requests = { kind: 'replay', path: '/0', seed: 1, bodies } as const;
  const direct = await driveLoad({ size, url: sink.url, connections: CONNECTIONS, requests });
  await sink.stop();
  await removeEndpoints(dataset);
  const rate = waiting / seconds;
  return [
    {
      id: '4',
      work: `deliveries drained to a local sink, ${waiting.toLocaleString('en')} waiting, ${ENDPOINTS} endpoints`,
      measured: perSecond(rate),
      against: `the sink under the load generator: ${perSecond(direct.perSecond)}`,
      ratio: rate / direct.perSecond,
      goal: '≥ 0.25 ×',
      isReached: rate >= 0.25 * direct.perSecond,
    },
  ];
}

export const deliveries: Work = { name: 'deliveries', words: 'row 4: waiting deliveries going out', run };
