// Whether somebody still waits for an answer.
import type { FastifyReply } from 'fastify';

/** Aborts when the client goes before it has its answer. To be called before the first `await`: a client that has gone emits no second `close`. */
export function departureOf({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) leaving.abort();
  });
  return leaving.signal;
}
