// Tracks who uses the server, by advisory locks on one connection per process: whatever ends a process, even kill -9,
// ends its connection and so its claims. Users share one lock; whoever can take it exclusively was the last user and
// stops the server.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { EmbeddedDatabaseError } from './problem.ts';

/** There is at most one service on a data directory; any number of commands may use it at the same time. */
export type Role = 'service' | 'cli';

const CLASS = 0x5b5f;
const IN_USE = 1;
const SERVICE = 2;
const MAX_WAIT_MS = 3_000;
const POLL_MS = 100;

/** Joins the users. Returns false if the last one is just stopping the server: then wait and start it again. */
export async function joinUsers(client: pg.Client): Promise<boolean> {
  return lock(client, 'pg_try_advisory_lock_shared', IN_USE);
}

/**
 * Claims the role of the one service of a data directory. The connection of a predecessor that was killed is closed
 * within moments, so this waits for them.
 */
export async function becomeService(client: pg.Client, dataDir: string): Promise<void> {
  const giveUpAt = performance.now() + MAX_WAIT_MS;
  while (!(await lock(client, 'pg_try_advisory_lock', SERVICE))) {
    if (performance.now() > giveUpAt) {
      throw new EmbeddedDatabaseError(
        `Another service is already running on the data directory ${dataDir} (${await describeService(client)}): stop it first, or set a different SPS_DATA_DIR and PORT.`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** Gives up this process's claims. Returns true if nobody else is left; then nobody can join any more. */
export async function leaveUsers(client: pg.Client): Promise<boolean> {
  await client.query('select pg_advisory_unlock_all()');
  return lock(client, 'pg_try_advisory_lock', IN_USE);
}

async function lock(client: pg.Client, call: string, object: number): Promise<boolean> {
  const { rows } = await client.query(`select ${call}($1, $2) as got`, [CLASS, object]);
  return rows[0].got;
}

async function describeService(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    `select a.application_name from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.granted`,
    [CLASS, SERVICE],
  );
  return rows[0]?.application_name ?? 'it has just ended';
}
