// CORS (decisions.md 1): public-key operations allow every origin, secret-key ones only ADMIN_CORS_ORIGIN.
// Not @fastify/cors: it takes over OPTIONS of every path, and with two policies in one app it decides for each request.
import type { Config } from '../config.ts';
import type { Route } from './operation.ts';

const EXPOSED = 'Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Content-Disposition';
const MAX_AGE_S = 7_200;

/** Returns the origin whose pages may use a route; undefined if no page may. */
export function corsOriginOf({ key }: Route, { ADMIN_CORS_ORIGIN }: Config): string | undefined {
  return key === 'public' ? '*' : ADMIN_CORS_ORIGIN;
}

export function corsHeaders(origin: string): Record<string, string> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** Keys travel in a header, never in cookies, so `access-control-allow-credentials` is not sent. */
export function preflightHeaders(origin: string, methods: readonly string[]): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': '*, Authorization',
    'access-control-max-age': String(MAX_AGE_S),
  };
}
