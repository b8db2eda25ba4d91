// The end of every request, which is logged and counted. Fastify's onResponse tells of answers that left alone, not of a client that
// went before its own.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { wasEnded } from './broken-request.ts';
import { countRequest } from './metrics.ts';
import { logRequest } from './request-log.ts';

/** As nginx has it: the connection ended before the answer had left, whatever became of the work. Mostly the client has gone. */
const CLIENT_GONE = 499;

export function tellEnd(reply: FastifyReply, status: number): void {
  logRequest(reply.request, reply, status);
  countRequest(reply.request, reply, status);
}

/** To be called before other hooks, so that what they refuse is told of too. */
export function registerEnding(app: FastifyInstance): void {
  /** Several of one connection where its client does not wait for answers. */
  const unanswered = new WeakMap<Socket, Set<FastifyReply>>();

  function watch(socket: Socket): Set<FastifyReply> {
    const replies = new Set<FastifyReply>();
    unanswered.set(socket, replies);
    socket.once('close', () => {
      for (const reply of replies) {
        // What the parser refused while the body was still coming has been told of.
        if (!wasEnded(socket) || reply.request.raw.complete) tellEnd(reply, CLIENT_GONE);
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
    if (unanswered.get(socket)?.delete(reply)) tellEnd(reply, reply.statusCode);
    done();
  });
}
