// Metrics of grouped attribution writes at /metrics (Prometheus).
import { Histogram, Registry } from 'prom-client';

const registry = new Registry();

/** Of this process. Large groups under load are by design; large groups at rest mean a slow database. */
export const groupSize = new Histogram({
  name: 'sps_attribution_group_size',
  help: 'Attribution requests that were committed together.',
  buckets: [1, 2, 5, 10, 20, 50, 100, 200],
  registers: [registry],
});

export function attributionMetrics(): Promise<string> {
  return registry.metrics();
}
