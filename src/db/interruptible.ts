// Statements of a connection that end when the process is to end: whoever waits for the answer of one hears nothing else, so another
// connection has it cancelled.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Between two statements a cancellation is not heard, even if the next is on its way: it is said again after so long. */
const AGAIN_MS = 200;

interface Interruption {
  signal: AbortSignal | undefined;
  /** Opens another connection to the same database. */
  connect: () => Promise<pg.Client>;
}

/** Does work on a connection; once the signal has aborted, its statements fail as cancelled. */
export async function interruptibly<T>(
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
      for (; !isOver; await sleep(AGAIN_MS)) await canceller.query('select pg_cancel_backend($1)', [rows[0].pid]);
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
    // Else it could hit whoever a pooler gives this session to.
    await cancelling;
  }
}
