// Logs and counts every request when it ends. Fastify's onResponse alone does not suffice: it reports responses that
// were sent, not clients that left before theirs.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { wasEnded } from './broken-request.ts';
import { countRequest } from './metrics.ts';
import { logRequest } from './request-log.ts';

/** As in nginx: the connection ended, usually by the client, before the response was sent, whatever the outcome. */
const CLIENT_GONE = 499;

export function recordEnd(reply: FastifyReply, status: number): void {
  logRequest(reply.request, reply, status);
  countRequest(reply.request, reply, status);
}

/** Registers the hooks. Call it before any that refuse requests, so that refused ones are logged and counted too. */
export function registerRequestEnd(app: FastifyInstance): void {
  /** Unanswered requests by connection; several if the client pipelines. */
  const unanswered = new WeakMap<Socket, Set<FastifyReply>>();

  function watch(socket: Socket): Set<FastifyReply> {
    const replies = new Set<FastifyReply>();
    unanswered.set(socket, replies);
    socket.once('close', () => {
      for (const reply of replies) {
        // A request that the parser refused while its body was arriving has already been logged and counted.
        if (!wasEnded(socket) || reply.request.raw.complete) recordEnd(reply, CLIENT_GONE);
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
    if (unanswered.get(socket)?.delete(reply)) recordEnd(reply, reply.statusCode);
    done();
  });
}
