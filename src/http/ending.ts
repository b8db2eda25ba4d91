// The end of every request. Fastify's onResponse tells of answers that left alone, not of a client that went before its own.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { wasEnded } from './broken-request.ts';

/** As nginx has it: the connection ended before the answer had left, whatever became of the work. Mostly the client has gone. */
const CLIENT_GONE = 499;

export type EndListener = (request: FastifyRequest, reply: FastifyReply, status: number) => void;

/** To be called before other hooks, so that what they refuse is told of too. */
export function registerEnding(app: FastifyInstance, listeners: readonly EndListener[]): void {
  /** Several of one connection where its client does not wait for answers. */
  const unanswered = new WeakMap<Socket, Set<FastifyReply>>();
  const tell = (reply: FastifyReply, status: number) => {
    for (const listener of listeners) listener(reply.request, reply, status);
  };

  function watch(socket: Socket): Set<FastifyReply> {
    const replies = new Set<FastifyReply>();
    unanswered.set(socket, replies);
    socket.once('close', () => {
      for (const reply of replies) {
        // What the parser refused while the body was still coming has been told of.
        if (!wasEnded(socket) || reply.request.raw.complete) tell(reply, CLIENT_GONE);
      }
      replies.clear();
    });
    return replies;
  }

  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    (unanswered.get(socket) ?? watch(socket)).add(reply);
    done();
  });
  app.addHook('onResponse', ({ raw: { socket } }, reply, done) => {
    if (unanswered.get(socket)?.delete(reply)) tell(reply, reply.statusCode);
    done();
  });
}
