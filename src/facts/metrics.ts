// Figures of the facts' background work at /metrics (Prometheus), of all processes, as the database knows it.
import { type Kysely, sql } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { countBacklog, MOST_BACKLOG } from './backlog.ts';

const registry = new Registry();

const pending = new Gauge({
  name: 'sps_totals_pending',
  help: `Facts that the totals do not contain yet; charts add them one by one. Counted up to ${MOST_BACKLOG}.`,
  registers: [registry],
});

const behind = new Gauge({
  name: 'sps_totals_behind_seconds',
  help: 'For how long something has waited for the totals, at least; 0 if all that waits has come since the last look.',
  registers: [registry],
});

const labels = new Gauge({
  name: 'sps_labels_pending',
  help: `Profiles whose facts wait for their new label. Counted up to ${MOST_BACKLOG}.`,
  registers: [registry],
});

interface Look {
  /** The run of the server: another one, such as a copy of before, may count its transactions from elsewhere. */
  run: number;
  /** In milliseconds. */
  at: number;
  /** A transaction of the database: rows of earlier ones were there. */
  next: string;
}

/** The oldest look, by a reader of /metrics, of whose rows some still wait. Under load something always waits, but not for long. */
let since: Look | undefined;

/** PostgreSQL's first normal transaction id: seen from it, nothing was there before the first look. */
const FIRST_TRANSACTION = '3';

const TABLES = ['fact_pending', 'fact_retired', 'fact_moved'] as const;

/** Whether something waits that was there then, and the transaction that is next now. */
async function look(db: Kysely<DB>, next: string): Promise<{ next: string; is_left: boolean }> {
  const left = TABLES.map(
    (table) => sql`exists (select from ${sql.table(table)} w where age(w.xmin) > age(${next}::text::xid8::xid))`,
  );
  const { rows } = await sql<{ next: string; is_left: boolean }>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as next, ${sql.join(left, sql` or `)} as is_left`.execute(db);
  return rows[0]!;
}

export async function factMetrics({ db, now, serverRun }: Pick<Deps, 'db' | 'now' | 'serverRun'>): Promise<string> {
  const { labels_pending, facts_pending, facts_retired, facts_moved } = await countBacklog(db);
  const facts = facts_pending + facts_retired + facts_moved;
  const at = now().getTime();
  const run = serverRun.number;
  if (since?.run !== run) since = undefined;
  const { next, is_left } = await look(db, since?.next ?? FIRST_TRANSACTION);
  // Of two readers at once the later look may have come first; and the clock may have been set back.
  if (!since || !is_left || at < since.at) since = { run, at, next };
  pending.set(facts);
  behind.set((at - since.at) / 1000);
  labels.set(labels_pending);
  return registry.metrics();
}
