// Bounds pipelining: how many requests a client may send on a connection before earlier ones are answered. Node accepts
// and keeps any number of them, and stops reading only once responses are waiting to be sent. So requests beyond the
// bound are refused immediately.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

/** Generous: hardly any client sends even one request ahead. */
const MAX_PIPELINED = 100;

export function registerPipelineLimit(app: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook('onRequest', ({ raw: { socket } }, { raw: response }, done) => {
    // Node assigns the socket to a response when its turn comes: no earlier request is unanswered.
    if (response.socket) return done();
    const ahead = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, ahead);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    done(ahead > MAX_PIPELINED ? apiError('unavailable') : undefined);
  });
}

/**
 * An onRequest hook for routes that serve files: a file is opened only when it is its turn to be sent. Otherwise a few
 * clients could use up all the files that the process may have open.
 */
export function waitForTurn(_request: FastifyRequest, { raw: response }: FastifyReply, done: () => void): void {
  if (response.socket) done();
  else response.once('socket', () => done());
}
