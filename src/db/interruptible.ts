// Ends the statements of a connection when the process is to end. The server reads nothing more from a connection whose
// statement is running, so another connection cancels it.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Interval at which a cancellation is repeated: it is lost between two statements, even if the next is on its way. */
const REPEAT_CANCEL_MS = 200;

interface Interruption {
  signal: AbortSignal | undefined;
  /** Opens another connection to the same database. */
  connect: () => Promise<pg.Client>;
}

/** Does work on a connection. Once the signal is aborted, its statements fail as cancelled. */
export async function runInterruptibly<T>(
  client: pg.Client,
  { signal, connect }: Interruption,
  work: () => Promise<T>,
): Promise<T> {
  const { rows } = await client.query('select pg_backend_pid() as pid');
  let cancelling: Promise<void> | undefined;
  let isOver = false;
  async function cancel(): Promise<void> {
    const canceller = await connect();
    try {
      for (; !isOver; await sleep(REPEAT_CANCEL_MS))
        await canceller.query('select pg_cancel_backend($1)', [rows[0].pid]);
    } finally {
      await canceller.end();
    }
  }
  const interrupt = () => {
    cancelling = cancel().catch(() => undefined);
  };
  signal?.addEventListener('abort', interrupt, { once: true });
  try {
    return await work();
  } finally {
    signal?.removeEventListener('abort', interrupt);
    isOver = true;
    // Otherwise it could hit whoever gets this session from a pooler next.
    await cancelling;
  }
}
