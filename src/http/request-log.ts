// One log line per request. The path without its query, never a header: no key reaches the log.
import type { FastifyReply, FastifyRequest } from 'fastify';

const KEYS = /(public|secret)_live_[^/]*/gi;
/** Characters that can be seen. */
const ESCAPED_ASCII = /%(?:2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi;
const MOST_LOGGED = 200;

/** However often it was encoded: each turn makes it shorter. */
function decodeAscii(path: string): string {
  const decoded = path.replaceAll(ESCAPED_ASCII, decodeURIComponent);
  return decoded === path ? path : decodeAscii(decoded);
}

/** The route's path; of an unknown one what was asked for, in case somebody put a key there without it, be it percent-encoded. */
function pathOf({ routeOptions, url }: FastifyRequest): string {
  if (routeOptions.url) return routeOptions.url;
  const path = url.split('?', 1)[0]?.slice(0, MOST_LOGGED) ?? '';
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
