// Detects whether an address leads through a pooler that lends one session of the server to several clients, as
// PgBouncer does in transaction and statement mode. There, what a session keeps (locks, prepared statements, settings,
// notifications) would end up with somebody else.
import type pg from 'pg';
import { splitAddress } from './client.ts';
import { createClient } from './client-class.ts';

export const SHARES_SESSIONS =
  'DATABASE_URL points to a pooler that shares sessions (PgBouncer in transaction mode): use its session mode, or connect to the server directly.';

/** If two processes of a pooler are behind one address, two of three clients are on the same one. */
const CLIENTS = 3;
const QUERIES_PER_CLIENT = 2;
/** Limit on connecting and on each statement: a pooler may have no session left for the next client. */
const TIMEOUT_MS = 3_000;
/** Identifies a session. Process ids alone may be the same on two servers. */
const SESSION = `select pg_backend_pid() || ' ' || pg_postmaster_start_time() as session`;

/**
 * Whether a pooler is in between. The server reports a session's process id when the session begins; a pooler does not
 * know yet which session it will lend, so it reports a number of its own.
 */
export async function leadsThroughPooler(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return rows[0].pid !== (client as pg.Client & { processID: number | null }).processID;
}

/**
 * Whether clients share sessions. A client's own session stays the same, and no other client has it meanwhile. A shared
 * session goes to the client that asks next or, if it is reset first or others take it, does not come back to the same
 * client immediately. Returns false if it cannot tell; whoever connects next learns why.
 */
export async function sharesSessions(connectionString: string): Promise<boolean> {
  const clients = Array.from({ length: CLIENTS }, () =>
    createClient({
      ...splitAddress(connectionString),
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      application_name: 'sps-sessions',
    }).on('error', () => undefined),
  );
  const seen = clients.map(() => new Set<string>());
  try {
    await Promise.all(clients.map((client) => client.connect()));
    for (const [i, client] of clients.entries()) {
      for (let time = 0; time < QUERIES_PER_CLIENT; time++) seen[i]?.add((await client.query(SESSION)).rows[0].session);
    }
  } catch {
    // What was seen up to then counts.
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()));
  }
  const sessions = seen.flatMap((some) => [...some]);
  return seen.some(({ size }) => size > 1) || new Set(sessions).size < sessions.length;
}
