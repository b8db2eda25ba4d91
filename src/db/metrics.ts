// Metrics of this process's connection pools at /metrics (Prometheus).
import type pg from 'pg';
import { Gauge, Registry } from 'prom-client';

const registry = new Registry();

const connections = new Gauge({
  name: 'sps_pool_connections',
  help: 'Connections to the database, by pool and whether they are in use or idle.',
  labelNames: ['pool', 'state'],
  registers: [registry],
});

const maxConnections = new Gauge({
  name: 'sps_pool_connections_max',
  help: 'Maximum number of connections of a pool.',
  labelNames: ['pool'],
  registers: [registry],
});

const waiting = new Gauge({
  name: 'sps_pool_waiting',
  help: 'Statements and transactions waiting for a connection.',
  labelNames: ['pool'],
  registers: [registry],
});

const pools = new Map<pg.Pool, string>();

/** Includes the pool in the metrics under this name until it is ended. */
export function watchPool(pool: pg.Pool, name: string): void {
  pools.set(pool, name);
}

export async function poolMetrics(): Promise<string> {
  for (const gauge of [connections, maxConnections, waiting]) gauge.reset();
  for (const [pool, name] of pools) {
    if (pool.ended) {
      pools.delete(pool);
      continue;
    }
    connections.inc({ pool: name, state: 'busy' }, pool.totalCount - pool.idleCount);
    connections.inc({ pool: name, state: 'idle' }, pool.idleCount);
    maxConnections.inc({ pool: name }, pool.options.max ?? 0);
    waiting.inc({ pool: name }, pool.waitingCount);
  }
  return registry.metrics();
}
