// The end of every request. Fastify's onResponse tells of answers that left alone, and not of a client that went before its own; and a
// response that waits behind another one of its connection is not told that the connection is gone.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { wasRefused } from './broken-request.ts';

/** As nginx has it: the connection ended before the answer had left, whatever became of the work. Mostly the client has gone. */
const CLIENT_GONE = 499;

export type EndListener = (request: FastifyRequest, reply: FastifyReply, status: number) => void;

/** To be called before other hooks, so that what they refuse is told of too. */
export function registerEnding(app: FastifyInstance, listeners: readonly EndListener[]): void {
  /** Per connection how to end what it has not been answered. */
  const open = new WeakMap<Socket, Set<() => void>>();

  function unansweredOf(socket: Socket): Set<() => void> {
    const known = open.get(socket);
    if (known) return known;
    const unanswered = new Set<() => void>();
    open.set(socket, unanswered);
    socket.once('close', () => {
      for (const end of unanswered) end();
    });
    return unanswered;
  }

  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const unanswered = unansweredOf(socket);
    const end = () => {
      // What the parser refused while the body was still coming has been told of.
      if (!unanswered.delete(end) || (wasRefused(socket) && !request.raw.complete)) return;
      const status = reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE;
      for (const listener of listeners) listener(request, reply, status);
    };
    unanswered.add(end);
    reply.raw.once('close', end);
    done();
  });
}
