// What every request passes first: id and safe headers for the answer, then whether it can be taken at all.
// Hooks here use callbacks, not promises: they run before every attribution.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

/** The headers that every answer carries. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
}

/**
 * What Node's parser lets through. One Host header is sent, which HTTP/1.0 may leave out (RFC 9112, 3.2); a body in chunks is not of
 * HTTP/1.0 (6.1). A proxy might have gone by the other Host, or have seen another end.
 */
function isMalformed({ raw: { rawHeaders, headers, httpVersion } }: FastifyRequest): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (httpVersion === '1.1') return hosts !== 1;
  return hosts > 1 || headers['transfer-encoding'] !== undefined;
}

/** The route's own headers are set here too, so that errors carry them, whoever throws. */
export function registerArrival(app: FastifyInstance): { startDraining: () => void } {
  let isDraining = false;
  let isClosing = false;
  const startDraining = () => {
    isDraining = true;
  };
  app.addHook('preClose', (done) => {
    startDraining();
    isClosing = true;
    done();
  });
  // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
  app.addHook('onSend', (_request, reply, payload, done) => {
    // Or the client's next request might be under way on the connection when it is closed.
    if (isDraining) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply);
    const { headers } = request.routeOptions.config;
    if (headers) reply.headers(headers);
    if (isClosing) done(apiError('unavailable'));
    else if (isMalformed(request)) done(apiError('malformed_request', '', { connection: 'close' }));
    else done();
  });
  return { startDraining };
}
