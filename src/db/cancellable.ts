// Reads in one read-only snapshot on the pool of charts and the event feed, in as few round trips as possible: each may
// take ten milliseconds while others write. When the client leaves or time is up, the statement is cancelled over the
// other pool.
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, type Kysely, sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { apiError } from '../errors.ts';
import { overlapping } from './overlap.ts';
import type { DB } from './types.ts';

const BEGIN = CompiledQuery.raw('start transaction isolation level repeatable read read only');
const END = CompiledQuery.raw('commit');
/** Interval at which a cancellation is repeated: it is lost between two statements, even if the next is on its way. */
const REPEAT_CANCEL_MS = 50;

interface Reading<First, Result> {
  /** Sends the statements that are known beforehand, together with the one that begins the snapshot. */
  first: (each: Kysely<DB>) => Promise<First>;
  /** Does the rest, given their results, in the same snapshot. */
  rest: (snapshot: Kysely<DB>, found: First) => Result | Promise<Result>;
}

async function readPid(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  return rows[0]!.pid;
}

/** Reads in a snapshot. Throws `unavailable` once the signal is aborted. */
export async function readCancellably<First, Result>(
  { db, analyticsDb }: Pick<Deps, 'db' | 'analyticsDb'>,
  signal: AbortSignal,
  { first, rest }: Reading<First, Result>,
): Promise<Result> {
  return analyticsDb.connection().execute(async (connection) => {
    if (signal.aborted) throw apiError('unavailable');
    let pid: Promise<number> | undefined;
    let cancelling: Promise<unknown> | undefined;
    let isOver = false;
    async function cancel(): Promise<void> {
      for (; !isOver; await sleep(REPEAT_CANCEL_MS)) await sql`select pg_cancel_backend(${await pid})`.execute(db);
    }
    const giveUp = () => {
      cancelling = cancel().catch(() => {});
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const [, , found] = await overlapping(connection, (each) => {
        const begun = each.executeQuery(BEGIN);
        pid = readPid(each);
        return [begun, pid, first(each)];
      });
      return await rest(connection, found);
    } catch (error) {
      throw signal.aborted ? apiError('unavailable') : error;
    } finally {
      signal.removeEventListener('abort', giveUp);
      isOver = true;
      // Otherwise it could hit whoever gets this connection next.
      await cancelling;
      // Nobody waits for the answer: nothing was written, and the next borrower's statements come behind it.
      connection.executeQuery(END).catch(() => undefined);
    }
  });
}
