// Limits on connections as such: how many may be open, when idle ones close, and for how long half-closed ones stay.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { hasResponseBegun, isResponseDue } from './broken-request.ts';
import { countDropped } from './metrics.ts';

/**
 * How long a response may take to begin after the client has ended its side. The client may still read, as `nc -N`
 * does, or be gone: the two look the same until something is sent. Nearly every response begins sooner, and little work
 * is done for clients that are gone.
 */
const HALF_CLOSED_TIMEOUT_MS = 1_000;

/** Applies these limits. Connections beyond `maxConnections` are closed without a response. */
export function registerConnections(app: FastifyInstance, maxConnections: number): void {
  const open = new Set<Socket>();
  app.server.maxConnections = maxConnections;
  // Otherwise Node would end our side as soon as the client ends its own, and the response would be lost.
  (app.server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  app.server.on('drop', countDropped);
  app.server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.once('end', () => {
      const giveUp = setTimeout(() => {
        if (!hasResponseBegun(socket)) socket.destroy();
      }, HALF_CLOSED_TIMEOUT_MS);
      socket.once('close', () => clearTimeout(giveUp));
    });
  });
  // Either no request comes, or the client does not read its response. A response that is still being computed has a
  // deadline of its own.
  app.server.on('timeout', (socket) => {
    if (!isResponseDue(socket)) socket.destroy();
  });
  // Load balancers open connections in advance. Node regards a connection that never carried a byte as in use, and
  // closing the server would wait for it.
  app.addHook('preClose', (done) => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    done();
  });
}
