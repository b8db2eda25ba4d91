// Load shedding: while the event loop is so far behind that responses would come too late anyway, new requests get 503
// with Retry-After immediately, so that those in progress finish. Not @fastify/under-pressure: it measures means over
// whole seconds, and its error is not in our catalogue.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { Counter, Registry } from 'prom-client';
import { apiError } from '../errors.ts';

const SAMPLE_MS = 250;
const RESOLUTION_MS = 10;
/** Monitoring is answered under any load. */
const MONITORING_PATHS = new Set(['/healthz', '/readyz', '/metrics']);

const registry = new Registry();
const shed = new Counter({
  name: 'sps_http_shed_total',
  help: 'Requests answered with 503 because the process was overloaded.',
  registers: [registry],
});

export function pressureMetrics(): Promise<string> {
  return registry.metrics();
}

/**
 * Measures the delay of the event loop in milliseconds: the mean of the last sample, or the time by which the sampler
 * itself is overdue if that is longer.
 */
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

/** Refuses requests while the event loop lags by more than `maxDelayMs`; 0 turns shedding off. */
export function registerPressure(app: FastifyInstance, maxDelayMs: number): void {
  if (maxDelayMs === 0) return;
  const meter = createDelayMeter();
  app.addHook('onClose', async () => meter.stop());
  app.addHook('onRequest', (request, _reply, done) => {
    if (meter.read() <= maxDelayMs || MONITORING_PATHS.has(request.routeOptions.url ?? '')) return done();
    shed.inc();
    done(apiError('unavailable'));
  });
}
