// Detects clients that no longer wait for their response.
import type { FastifyReply } from 'fastify';

/**
 * Returns a signal that aborts if the client disconnects before it has its response. Call it before the first `await`:
 * `close` is not emitted again for a client that is already gone.
 */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) disconnected.abort();
  });
  return disconnected.signal;
}
