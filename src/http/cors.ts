// Which web pages may call (decisions.md 1): public-key operations answer every origin, secret-key ones ADMIN_CORS_ORIGIN alone.
// Not @fastify/cors: it takes OPTIONS of every path, and two policies in one app make it decide anew for each request.
import type { Config } from '../config.ts';
import type { Route } from './operation.ts';

const EXPOSED = 'Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Content-Disposition';
const MAX_AGE_S = 7_200;

/** The origin that may use a route; undefined where no page may. */
export function corsOriginOf({ key }: Route, { ADMIN_CORS_ORIGIN }: Config): string | undefined {
  return key === 'public' ? '*' : ADMIN_CORS_ORIGIN;
}

export function corsHeaders(origin: string): Record<string, string> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** Credentials are headers here, never cookies: no page is allowed those. */
export function preflightHeaders(origin: string, methods: readonly string[]): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': '*, Authorization',
    'access-control-max-age': String(MAX_AGE_S),
  };
}
