// The load generator, a process of its own. It opens as many connections as asked for, each with one request in flight,
// and is limited by time and count. It can also keep a steady pace.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, openConnection, type Target } from './connection.ts';
import { createRequests, type Requests } from './requests.ts';

export interface LoadJob {
  url: string;
  requests: Requests;
  connections: number;
  warmUpSeconds: number;
  seconds: number;
  /** Requests in total; if it is not given, only the time limits them. */
  count?: number;
  /** Requests per second; if it is not given, as fast as they are answered. */
  pace?: number;
}

export interface LoadResult {
  requests: number;
  perSecond: number;
  p99Ms: number;
  /** Answers other than 2xx. */
  failed: number;
}

const MAX_REQUESTS = 20_000_000;
const MAX_SECONDS = 600;
/** How often a waiting connection checks whether the load is over. */
const MAX_SLEEP_MS = 20;

/** Returns a function that waits until the next request is due at this pace. */
function createPacer(pace: number, isOver: () => boolean): () => Promise<void> {
  const began = performance.now();
  let taken = 0;
  return async () => {
    const due = taken++ / pace;
    for (;;) {
      const early = 1000 * due - (performance.now() - began);
      if (early <= 0 || isOver()) return;
      await sleep(Math.min(early, MAX_SLEEP_MS));
    }
  };
}

export async function drive(job: LoadJob, isFinished: () => boolean): Promise<LoadResult> {
  const { hostname, port } = new URL(job.url);
  const next = createRequests(job.requests);
  const latencies: number[] = [];
  const { count = MAX_REQUESTS } = job;
  const warmUntil = performance.now() + job.warmUpSeconds * 1000;
  const until = warmUntil + Math.min(job.seconds, MAX_SECONDS) * 1000;
  let sent = 0;
  let failed = 0;
  let lastAt = warmUntil;
  const isOver = () => isFinished() || sent >= count || performance.now() >= until;
  const nextRequest = () => {
    if (isOver()) return undefined;
    sent++;
    return next();
  };
  const waitForTurn = createPacer(job.pace ?? Number.POSITIVE_INFINITY, isOver);
  function record({ status, ms }: Answer): void {
    lastAt = performance.now();
    if (lastAt < warmUntil) return;
    if (status < 200 || status > 299) failed++;
    latencies.push(ms);
  }
  async function runConnection(target: Target): Promise<void> {
    const connection = await openConnection(target);
    for (;;) {
      if (job.pace !== undefined) await waitForTurn();
      const request = nextRequest();
      if (request === undefined) break;
      record(await connection.send(request));
    }
    connection.close();
  }
  const target = { host: hostname, port: Number(port) };
  await Promise.all(Array.from({ length: job.connections }, () => runConnection(target)));
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    perSecond: latencies.length / Math.max(0.001, (lastAt - warmUntil) / 1000),
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    failed,
  };
}

let isFinished = false;
process.on('message', (message: LoadJob | { finish: true }) => {
  if ('finish' in message) {
    isFinished = true;
    return;
  }
  drive(message, () => isFinished).then(
    (result) => process.send?.(result, () => process.disconnect()),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
