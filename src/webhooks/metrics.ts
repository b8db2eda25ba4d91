// The webhooks' metrics for Prometheus. Labels name apps, never addresses or keys.
import { type Kysely, sql } from 'kysely';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { countDeliveries, MAX_DELIVERIES_COUNTED } from './endpoint-queries.ts';

const registry = new Registry();
const labelNames = ['app_id'] as const;

/** Counts the attempts of this process. */
export const attemptCounter = new Counter({
  name: 'sps_webhook_attempts_total',
  help: 'Attempts to deliver an event, by result: delivered, failed (to be retried) or dead (no retries left).',
  labelNames: [...labelNames, 'result'],
  registers: [registry],
});

export const attemptSeconds = new Histogram({
  name: 'sps_webhook_attempt_seconds',
  help: 'Duration of attempts to deliver an event.',
  labelNames,
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [registry],
});

const pending = new Gauge({
  name: 'sps_webhook_pending',
  help: `Pending deliveries, by the state of their endpoint. Counted up to ${MAX_DELIVERIES_COUNTED} per endpoint.`,
  labelNames: [...labelNames, 'endpoint_state'],
  registers: [registry],
});

const oldestPending = new Gauge({
  name: 'sps_webhook_oldest_pending_seconds',
  help: 'Age of the oldest pending delivery, by the state of its endpoint.',
  labelNames: [...labelNames, 'endpoint_state'],
  registers: [registry],
});

const dead = new Gauge({
  name: 'sps_webhook_dead',
  help: `Dead deliveries that can be replayed. Counted up to ${MAX_DELIVERIES_COUNTED} per endpoint.`,
  labelNames,
  registers: [registry],
});

interface EndpointBacklog {
  app_id: string;
  state: string;
  pending: number;
  oldest_at: string | null;
  dead: number;
}

async function countPending(db: Kysely<DB>): Promise<EndpointBacklog[]> {
  const { rows } = await sql<EndpointBacklog>`
    select webhook.app_id, webhook.state, sum(p.pending)::float8 as pending, min(p.oldest_at) as oldest_at,
      sum(${countDeliveries('dead')}) as dead
    from webhook
    cross join lateral (
      select count(*) as pending, min(queued_at) as oldest_at from (
        -- The order by due_at is served by an index, and what is due first has waited longest, or nearly so.
        select queued_at from webhook_delivery where webhook_id = webhook.webhook_id and state = 'pending'
        order by due_at limit ${MAX_DELIVERIES_COUNTED}) first) p
    group by webhook.app_id, webhook.state`.execute(db);
  return rows;
}

/**
 * Returns the webhooks' part of /metrics: this process's attempts, and the backlog of all processes from the database.
 */
export async function webhookMetrics({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<string> {
  const endpoints = await countPending(db);
  for (const gauge of [pending, oldestPending, dead]) gauge.reset();
  for (const row of endpoints) {
    const labels = { app_id: row.app_id, endpoint_state: row.state };
    pending.set(labels, row.pending);
    const age = row.oldest_at === null ? 0 : (now().getTime() - Date.parse(row.oldest_at)) / 1000;
    oldestPending.set(labels, Math.max(0, age));
    dead.inc({ app_id: row.app_id }, row.dead);
  }
  return registry.metrics();
}
