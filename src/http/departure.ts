// Whether somebody still waits for an answer.
import type { FastifyReply } from 'fastify';

/** Aborts when the client goes before it has its answer. To be asked for before anything is waited for: who has gone cannot go again. */
export function departureOf({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) leaving.abort();
  });
  return leaving.signal;
}
