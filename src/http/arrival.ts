// What every request passes first: id and safe headers for the answer, then whether it can be taken at all.
// Hooks here use callbacks, not promises: they run before every attribution.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

/** The headers that every answer carries. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
}

/** One Host header, which HTTP/1.0 may leave out (RFC 9112, 3.2): of two, a proxy might have gone by the other. */
function isHostWrong({ raw: { rawHeaders, httpVersion } }: FastifyRequest): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1 || (hosts === 0 && httpVersion === '1.1');
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
    else if (isHostWrong(request)) done(apiError('malformed_request', '', { connection: 'close' }));
    else done();
  });
  return { startDraining };
}
