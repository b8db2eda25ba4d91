// The first hooks that every request passes: they set the request id and safe headers on the response, then decide
// whether the request can be accepted at all. Callbacks, not promises, because they run before every attribution.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

/** Sets the headers that every response carries. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
}

/**
 * Whether the request is malformed in a way that Node's parser lets through. There must be exactly one Host header,
 * which only HTTP/1.0 may omit (RFC 9112, 3.2), and HTTP/1.0 has no chunked bodies (6.1). Otherwise a proxy may have
 * routed by another Host, or seen the request end elsewhere.
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

/** Registers the hooks. They also set the route's own headers, so that errors carry them, whoever throws. */
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
    // Otherwise the client's next request might be in flight when the connection is closed.
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
