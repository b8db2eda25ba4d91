// Connections beside their requests: how many there may be, those over which nothing comes or goes, those whose client has said its last.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { hasAnswerBegun, isAnswerDue } from './broken-request.ts';
import { countDropped } from './metrics.ts';

/**
 * How long a client that has ended its side is answered. It may still read, as `nc -N` does, or have gone: the two look the same
 * until something is sent. Nearly every answer comes sooner, and what is asked for nobody is not computed much longer.
 */
const ANSWERED_AFTER_END_MS = 1_000;

/** More than `most` at once are closed unanswered. */
export function registerConnections(app: FastifyInstance, most: number): void {
  const open = new Set<Socket>();
  app.server.maxConnections = most;
  // Or Node would end ours with theirs, and the answer be lost.
  (app.server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  app.server.on('drop', countDropped);
  app.server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.once('end', () => {
      const giveUp = setTimeout(() => {
        if (!hasAnswerBegun(socket)) socket.destroy();
      }, ANSWERED_AFTER_END_MS);
      socket.once('close', () => clearTimeout(giveUp));
    });
  });
  // Nobody asks, or nobody takes the answer. An answer that is still being computed has a deadline of its own.
  app.server.on('timeout', (socket) => {
    if (!isAnswerDue(socket)) socket.destroy();
  });
  // Load balancers connect ahead. Node takes a connection over which nothing ever came for one that is being used, and closing would wait.
  app.addHook('preClose', (done) => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    done();
  });
}
