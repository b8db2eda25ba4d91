// Figures of the facts' background work at /metrics (Prometheus), of all processes, as the database knows it.
import { type Kysely, sql } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';

const MOST_COUNTED = 1_000_000;

const registry = new Registry();

const pending = new Gauge({
  name: 'sps_totals_pending',
  help: `Facts that the totals do not contain yet; charts add them one by one. Counted up to ${MOST_COUNTED}.`,
  registers: [registry],
});

const behind = new Gauge({
  name: 'sps_totals_behind_seconds',
  help: 'Time since the totals were last seen to contain every fact; 0 while they do.',
  registers: [registry],
});

const labels = new Gauge({
  name: 'sps_labels_pending',
  help: `Profiles whose facts wait for their new label. Counted up to ${MOST_COUNTED}.`,
  registers: [registry],
});

/** When nothing was pending, as far as readers of /metrics have seen; in milliseconds. */
let lastComplete: number | undefined;

async function countPending(db: Kysely<DB>): Promise<{ facts: number; labels: number }> {
  const { rows } = await sql<{ facts: number; labels: number }>`
    select (select count(*)::integer from (select from fact_pending limit ${MOST_COUNTED}) p)
        + (select count(*)::integer from (select from fact_retired limit ${MOST_COUNTED}) r)
        + (select count(*)::integer from (select from fact_moved limit ${MOST_COUNTED}) m) as facts,
      (select count(*)::integer from (select from label_pending limit ${MOST_COUNTED}) l) as labels`.execute(db);
  return rows[0] ?? { facts: 0, labels: 0 };
}

export async function factMetrics({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<string> {
  const counts = await countPending(db);
  const at = now().getTime();
  if (counts.facts === 0) lastComplete = at;
  lastComplete ??= at;
  pending.set(counts.facts);
  behind.set((at - lastComplete) / 1000);
  labels.set(counts.labels);
  return registry.metrics();
}
