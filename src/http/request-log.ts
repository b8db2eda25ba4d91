// Writes one log line per request. It has the path without its query and no headers, so that no key reaches the log.
import type { FastifyReply, FastifyRequest } from 'fastify';

const KEYS = /(public|secret)_live_[^/]*/gi;
/** Escapes of the visible ASCII characters. */
const ESCAPED_ASCII = /%(?:2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi;
const MAX_PATH_LENGTH = 200;

/** Decodes visible ASCII however often it was encoded. It terminates because each round shortens the path. */
function decodeAscii(path: string): string {
  const decoded = path.replaceAll(ESCAPED_ASCII, decodeURIComponent);
  return decoded === path ? path : decodeAscii(decoded);
}

/**
 * Returns the route's path. For an unknown route it returns the requested path, without any key that somebody put
 * there, even percent-encoded.
 */
function pathOf({ routeOptions, url }: FastifyRequest): string {
  if (routeOptions.url) return routeOptions.url;
  const path = url.split('?', 1)[0]?.slice(0, MAX_PATH_LENGTH) ?? '';
  return decodeAscii(path).replaceAll(KEYS, '$1_live_…');
}

export function logRequest(request: FastifyRequest, reply: FastifyReply, status: number): void {
  const { method, caller } = request;
  request.server.log.info(
    {
      request_id: request.id,
      method,
      path: pathOf(request),
      status,
      ms: Math.round(reply.elapsedTime * 1000) / 1000,
      app_id: caller?.app.app_id,
      key_id: caller?.key_id,
    },
    'request',
  );
}
