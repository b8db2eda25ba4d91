// Answers requests that match no route: a browser's preflight, another method on a known path (405 with Allow), else
// 404. It does so before the body is read, so that the body's type and size do not matter.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';
import { preflightHeaders } from './cors.ts';

interface KnownPath {
  methods: Set<string>;
  corsOrigin: string | undefined;
  /** Sent with every response on this path. */
  headers: Record<string, string>;
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/**
 * Returns the path as the router sees it, also for targets in absolute form or with a fragment. decodeURI does not
 * throw, as the router has already refused bad escapes.
 */
function pathOf({ url }: FastifyRequest): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?]*/i, '').split(/[?#]/, 1);
  return withoutSlash(decodeURI(path));
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** Registers the hooks. Call it before the routes are registered. */
export function registerUnrouted(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>();

  app.addHook('onRoute', ({ url: route, method, config }) => {
    const url = withoutSlash(route);
    const path = paths.get(url) ?? {
      methods: new Set(),
      corsOrigin: config?.corsOrigin,
      headers: config?.headers ?? {},
    };
    for (const one of [method].flat()) path.methods.add(one);
    paths.set(url, path);
  });

  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) {
      done();
      return;
    }
    const path = paths.get(pathOf(request));
    if (path?.corsOrigin && isPreflight(request)) {
      reply
        .code(204)
        .headers(preflightHeaders(path.corsOrigin, [...path.methods]))
        .send();
      return;
    }
    if (path) reply.headers(path.headers);
    const allow = path && [...path.methods].join(', ');
    done(allow ? apiError('method_not_allowed', request.method, { allow }) : apiError('path_not_found'));
  });
}
