// Requests that a client sends ahead of the answers to earlier ones on the connection. Node takes all that come and keeps them until it is their
// turn; it stops reading only once answers wait to be sent. So those beyond a few are answered at once.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

/** Hardly any client sends even one. */
const MOST_AHEAD = 100;

export function registerAhead(app: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook('onRequest', ({ raw: { socket } }, { raw: response }, done) => {
    // It has the connection already: no earlier request is unanswered.
    if (response.socket) return done();
    const ahead = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, ahead);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    done(ahead > MOST_AHEAD ? apiError('unavailable') : undefined);
  });
}

/** An onRequest hook for files: each is opened only when it is its turn to be sent, or a few clients could have all be open that may be. */
export function inTurn(_request: FastifyRequest, { raw: response }: FastifyReply, done: () => void): void {
  if (response.socket) done();
  else response.once('socket', () => done());
}
