// Waiting for whoever is in the way of a migration: says for whom, and gives up in the end.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { MIGRATION_LOCK } from './advisory-locks.ts';
import { MigrationError } from './migration-refusals.ts';

const GIVE_UP_AFTER_MS = 30 * 60_000;

export interface WaitOptions {
  /** Called with a message that says whom the migration waits for. */
  report?: (message: string) => void;
  giveUpAfterMs?: number;
  /** When aborted, waiting ends and a migration in progress is rolled back. */
  signal?: AbortSignal;
}

/** Describes a session so that the operator can find it. Omits what they may not know of another role's session. */
const SESSION = `concat_ws(', ', 'pid ' || pid, nullif(application_name, ''), state, 'from ' || host(client_addr)) as session`;

/** Names the session that holds the lock. */
export async function describeLockHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    `select ${SESSION} from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and classid = 0 and objid = $1 and objsubid = 1 and granted
      and pg_locks.database = (select oid from pg_database where datname = current_database())`,
    [MIGRATION_LOCK],
  );
  return rows[0] ? ` (${rows[0].session})` : '';
}

/** Names the session with the oldest transaction that was open throughout the wait for a lock. */
export async function describeOldestTransaction(client: pg.Client, waitedMs: number): Promise<string> {
  const { rows } = await client.query(
    `select ${SESSION} from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - $1 * interval '1 ms'
      and pid in (select pid from pg_locks where locktype = 'relation')
    order by xact_start limit 1`,
    [waitedMs],
  );
  return rows[0] ? ` (the oldest: ${rows[0].session})` : '';
}

/** Throws if the process is to end. */
export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new MigrationError('Interrupted: the next start will continue the migrations.');
}

interface Waiting {
  restMs: number;
  /** Returns the message about the wait, and the one for when it is given up. */
  describe: () => Promise<{ waits: string; givesUp: string }>;
}

/** Retries until an attempt succeeds. Reports once what it is waiting for, and gives up rather than wait for ever. */
export async function tryUntilDone(
  attempt: () => Promise<boolean>,
  { restMs, describe }: Waiting,
  { report, giveUpAfterMs = GIVE_UP_AFTER_MS, signal }: WaitOptions,
): Promise<void> {
  const until = performance.now() + giveUpAfterMs;
  let isReported = false;
  while (!(await attempt())) {
    const isOver = performance.now() > until;
    if (isOver || !isReported) {
      const { waits, givesUp } = await describe();
      if (isOver) throw new MigrationError(givesUp);
      report?.(waits);
      isReported = true;
    }
    await sleep(restMs, undefined, { signal });
  }
}
