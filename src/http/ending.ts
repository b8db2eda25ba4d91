// The end of every request. Fastify's onResponse tells of answers that left alone, and not of a client that went before its own.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** As nginx has it: the client went before the answer had left, whatever became of the work. */
const CLIENT_GONE = 499;

export type EndListener = (request: FastifyRequest, reply: FastifyReply, status: number) => void;

/** To be called before other hooks, so that what they refuse is told of too. */
export function registerEnding(app: FastifyInstance, listeners: readonly EndListener[]): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => {
      const status = reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE;
      for (const listener of listeners) listener(request, reply, status);
    });
    done();
  });
}
