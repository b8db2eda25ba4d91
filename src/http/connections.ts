// Connections before they are requests: how many there may be, and those over which nothing comes.
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { countDropped } from './metrics.ts';

/** More than `most` at once are closed unanswered. */
export function registerConnections(app: FastifyInstance, most: number): void {
  const open = new Set<Socket>();
  app.server.maxConnections = most;
  app.server.on('drop', countDropped);
  app.server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  // Load balancers connect ahead. Node takes a connection over which nothing ever came for one that is being used, and closing would wait.
  app.addHook('preClose', (done) => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    done();
  });
}
