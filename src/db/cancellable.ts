// One read-only snapshot on the pool of charts and of the event feed. When the client leaves or the time is over, its statement is
// cancelled over the other pool.
import { type Kysely, sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { apiError } from '../errors.ts';
import { inSnapshot } from './client.ts';
import type { DB } from './types.ts';

/** Throws `unavailable` once the signal has aborted. */
export async function readCancellably<T>(
  { db, analyticsDb, log }: Deps,
  signal: AbortSignal,
  work: (trx: Kysely<DB>) => Promise<T>,
): Promise<T> {
  return inSnapshot(analyticsDb, async (trx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    let cancelling: Promise<unknown> | undefined;
    const cancel = () => {
      cancelling = sql`select pg_cancel_backend(${rows[0]!.pid})`.execute(db).catch(() => {});
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (signal.aborted) throw apiError('unavailable');
      return await work(trx);
    } catch (error) {
      if (!signal.aborted) throw error;
      if (signal.reason.name === 'TimeoutError')
        log.warn({ err: error }, 'a chart took longer than ANALYTICS_TIMEOUT_MS');
      throw apiError('unavailable');
    } finally {
      signal.removeEventListener('abort', cancel);
      // Else it could hit whoever gets this connection next.
      await cancelling;
    }
  });
}
