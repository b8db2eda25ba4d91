// The background work on facts at /metrics (Prometheus): the figures of all processes, as recorded in the database.
import { type Kysely, sql } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { countBacklog, MAX_BACKLOG } from './backlog.ts';

const registry = new Registry();

const pending = new Gauge({
  name: 'sps_totals_pending',
  help: `Changes to facts that the totals do not contain yet; charts add them one by one. Counted up to ${MAX_BACKLOG} per table.`,
  registers: [registry],
});

const behind = new Gauge({
  name: 'sps_totals_behind_seconds',
  help: 'Lower bound on how long the oldest pending change has waited for the totals; 0 if all pending changes have arrived since /metrics was last read.',
  registers: [registry],
});

const labels = new Gauge({
  name: 'sps_labels_pending',
  help: `Profiles whose facts are still to be relabelled. Counted up to ${MAX_BACKLOG}.`,
  registers: [registry],
});

interface Observation {
  /** The run of the server. Another one, such as an earlier copy, may count its transactions from elsewhere. */
  run: number;
  /** In milliseconds. */
  at: number;
  /** The id of the next transaction at the time: rows of earlier transactions were there already. */
  next: string;
}

/**
 * The oldest observation, made when /metrics was read, some of whose rows are still pending. Under load some row is
 * always pending, but none for long.
 */
let oldest: Observation | undefined;

/** PostgreSQL's first normal transaction id. No row is older, so the first observation finds nothing left over. */
const FIRST_TRANSACTION = '3';

const TABLES = ['fact_pending', 'fact_retired', 'fact_moved'] as const;

/** Returns whether anything from before the transaction `next` is still pending, and which transaction is next now. */
async function checkPending(db: Kysely<DB>, next: string): Promise<{ next: string; is_left: boolean }> {
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
  if (oldest?.run !== run) oldest = undefined;
  const { next, is_left } = await checkPending(db, oldest?.next ?? FIRST_TRANSACTION);
  // Concurrent requests for /metrics may finish in another order, and the clock may have been set back.
  if (!oldest || !is_left || at < oldest.at) oldest = { run, at, next };
  pending.set(facts);
  behind.set((at - oldest.at) / 1000);
  labels.set(labels_pending);
  return registry.metrics();
}
