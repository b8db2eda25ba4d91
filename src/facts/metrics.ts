// Figures of the facts' background work at /metrics (Prometheus), of all processes, as the database knows it.
import { Gauge, Registry } from 'prom-client';
import type { Deps } from '../deps.ts';
import { countBacklog, MOST_COUNTED } from './backlog.ts';

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

export async function factMetrics({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<string> {
  const { labels_pending, facts_pending, facts_retired, facts_moved } = await countBacklog(db);
  const facts = facts_pending + facts_retired + facts_moved;
  const at = now().getTime();
  if (facts === 0) lastComplete = at;
  lastComplete ??= at;
  pending.set(facts);
  behind.set((at - lastComplete) / 1000);
  labels.set(labels_pending);
  return registry.metrics();
}
