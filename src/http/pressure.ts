// Load shedding: while the event loop is so far behind that answers would come too late anyway, new requests are answered 503
// with Retry-After at once, so that those under way finish. Not @fastify/under-pressure: it tells of the mean of whole seconds,
// and its error is not of our catalogue.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { Counter, Registry } from 'prom-client';
import { apiError } from '../errors.ts';

const SAMPLE_MS = 250;
const RESOLUTION_MS = 10;
/** Whoever watches the process is answered whatever its load. */
const WATCHERS = new Set(['/healthz', '/readyz', '/metrics']);

const registry = new Registry();
const shed = new Counter({
  name: 'sps_http_shed_total',
  help: 'Requests answered 503 because the process was overloaded.',
  registers: [registry],
});

export function pressureMetrics(): Promise<string> {
  return registry.metrics();
}

/** How late the loop comes, in milliseconds: the mean of the last sample, and what has passed since the sampler was due. */
function createDelayMeter(): { read: () => number; stop: () => void } {
  const histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let delayMs = 0;
  let sampledAt = performance.now();
  const timer = setInterval(() => {
    delayMs = Number.isNaN(histogram.mean) ? 0 : Math.max(0, histogram.mean / 1e6 - RESOLUTION_MS);
    histogram.reset();
    sampledAt = performance.now();
  }, SAMPLE_MS).unref();
  return {
    read: () => Math.max(delayMs, performance.now() - sampledAt - SAMPLE_MS),
    stop: () => {
      clearInterval(timer);
      histogram.disable();
    },
  };
}

/** `mostDelayMs` 0 sheds nothing. */
export function registerPressure(app: FastifyInstance, mostDelayMs: number): void {
  if (mostDelayMs === 0) return;
  const meter = createDelayMeter();
  app.addHook('onClose', async () => meter.stop());
  app.addHook('onRequest', (request, _reply, done) => {
    if (meter.read() <= mostDelayMs || WATCHERS.has(request.routeOptions.url ?? '')) return done();
    shed.inc();
    done(apiError('unavailable'));
  });
}
