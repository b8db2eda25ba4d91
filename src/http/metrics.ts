// /metrics for Prometheus: figures of this process, of its requests, and of the features.
import { hash, timingSafeEqual } from 'node:crypto';
import { BlockList } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Deps } from '../deps.ts';
import { apiError } from '../errors.ts';

const registry = new Registry();
collectDefaultMetrics({ register: registry });

const build = new Gauge({
  name: 'sps_build_info',
  help: 'Always 1, labelled with the version of the service.',
  labelNames: ['version'],
  registers: [registry],
});

const requests = new Counter({
  name: 'sps_http_requests_total',
  help: 'Requests by operation and status; 499 if the connection ended before the response was sent.',
  labelNames: ['operation', 'status'],
  registers: [registry],
});

const seconds = new Histogram({
  name: 'sps_http_request_seconds',
  help: 'Time from the arrival of a request to the end of its response or of its connection.',
  labelNames: ['operation'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [registry],
});

const dropped = new Counter({
  name: 'sps_http_connections_dropped_total',
  help: 'Connections closed without a response because MAX_CONNECTIONS was reached.',
  registers: [registry],
});

export function countDropped(): void {
  dropped.inc();
}

/** Counts a request that never reached Fastify: broken, too large or too slow. */
export function countRefused(status: number): void {
  requests.inc({ operation: 'none', status });
}

/** Well within the 10 s that Prometheus allows for a whole scrape. */
const PART_TIMEOUT_MS = 3_000;

export interface MetricsOptions {
  /** True on a separate listener: anyone may read. On the public one only loopback and holders of METRICS_TOKEN may. */
  isOpen: boolean;
  version: string;
  /** The features' metrics, in Prometheus' text format. */
  parts: readonly (() => Promise<string>)[];
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const LOOPBACK_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;
const FORWARDING_HEADERS = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'via',
];

/** Whether the request is local. A proxy on this machine connects from loopback too, but what it forwards is not. */
function isLocal({ socket: { remoteAddress = '' }, headers }: FastifyRequest): boolean {
  if (!loopback.check(remoteAddress, remoteAddress.includes(':') ? 'ipv6' : 'ipv4')) return false;
  return LOOPBACK_NAME.test(headers.host ?? '') && FORWARDING_HEADERS.every((name) => headers[name] === undefined);
}

function hasToken({ headers: { authorization = '' } }: FastifyRequest, token: string | undefined): boolean {
  const sha256 = (text: string) => hash('sha256', text, 'buffer');
  return token !== undefined && timingSafeEqual(sha256(authorization), sha256(`Bearer ${token}`));
}

export function countRequest({ routeOptions }: FastifyRequest, reply: FastifyReply, status: number): void {
  const { operation = routeOptions.url ?? 'none' } = routeOptions.config;
  requests.inc({ operation, status });
  seconds.observe({ operation }, reply.elapsedTime / 1000);
}

export function registerMetrics(
  app: FastifyInstance,
  deps: Pick<Deps, 'config' | 'log'>,
  options: MetricsOptions,
): void {
  build.set({ version: options.version }, 1);
  /** Reads in progress: later scrapes join them instead of starting another. */
  const inFlight = new Map<() => Promise<string>, Promise<string>>();

  /** Reads one feature's metrics. They may need the database; if it is away, the others are still wanted. */
  async function readPart(part: () => Promise<string>): Promise<string> {
    const reading = inFlight.get(part) ?? part().finally(() => inFlight.delete(part));
    inFlight.set(part, reading);
    const timeout = sleep(PART_TIMEOUT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`not read within ${PART_TIMEOUT_MS / 1000} s`);
    });
    try {
      return await Promise.race([reading, timeout]);
    } catch (error) {
      deps.log.warn({ err: error }, 'some metrics could not be read');
      return '';
    }
  }

  app.get('/metrics', async (request, reply) => {
    const isAllowed = options.isOpen || isLocal(request) || hasToken(request, deps.config.METRICS_TOKEN);
    if (!isAllowed) throw apiError('not_authenticated', '', { 'www-authenticate': 'Bearer' });
    const texts = await Promise.all([registry.metrics(), ...options.parts.map(readPart)]);
    return reply.type(registry.contentType).header('cache-control', 'no-store').send(texts.join('\n'));
  });
}
