// Registers the rows of routes.ts with Fastify, each with its key check, limit and headers.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify';
import type { Config } from '../config.ts';
import type { App } from '../deps.ts';
import { appOf, authenticate, type Keyring } from './auth.ts';
import { withCompression } from './compression.ts';
import { corsHeaders, corsOriginOf } from './cors.ts';
import type { LimitOf } from './limits.ts';
import { BODY_LIMIT, type Call, type Route } from './operation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    needsBody?: boolean;
    operation?: string;
    /** Sent with every response, errors included. */
    headers?: Record<string, string>;
    /** The origin whose pages may call the route. */
    corsOrigin?: string | undefined;
  }
}

export interface RouteParts {
  config: Config;
  keyring: Keyring;
  limitOf: LimitOf;
}

/** A class, because object literals with getters are slow to create. */
class RequestCall implements Call<never> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.request = request;
    this.reply = reply;
  }

  get app(): App {
    return appOf(this.request);
  }

  get body(): never {
    return this.request.body as never;
  }
}

/**
 * Keys are checked before the body arrives, which may take half a minute. If it took longer than this, the key is
 * checked again, as it may have been revoked meanwhile.
 */
const RECHECK_KEY_AFTER_MS = 500;

function recheckKey(checkKey: (request: FastifyRequest) => Promise<void>): preValidationHookHandler {
  return (request, reply, done) => {
    if (reply.elapsedTime < RECHECK_KEY_AFTER_MS) done();
    else checkKey(request).then(() => done(), done);
  };
}

function registerRoute(app: FastifyInstance, route: Route, { config, keyring, limitOf }: RouteParts): void {
  const { method, path, key, address, operation } = route;
  const corsOrigin = corsOriginOf(route, config);
  const limit = limitOf(route);
  const checkKey = key === 'none' ? undefined : authenticate(keyring, { kind: key, charts: address === 'admin' });
  const headers = {
    ...(corsOrigin && corsHeaders(corsOrigin)),
    ...(key === 'secret' && { 'cache-control': 'no-store' }),
  };
  app.withTypeProvider<TypeBoxTypeProvider>().route({
    method,
    url: path,
    bodyLimit: operation.bodyLimit ?? BODY_LIMIT,
    config: { needsBody: operation.body !== undefined, operation: operation.summary, corsOrigin, headers },
    schema: {
      ...(operation.body && { body: operation.body }),
      ...(operation.querystring && { querystring: operation.querystring }),
    },
    ...(operation.validatesBody && { validatorCompiler: () => () => true }),
    ...(operation.compressed && { compress: {} }),
    onRequest: [checkKey, limit].filter((hook) => hook !== undefined) as onRequestHookHandler[],
    ...(checkKey && operation.body && { preValidation: recheckKey(checkKey) }),
    handler: (request, reply) => operation.handle(new RequestCall(request, reply)),
  });
}

export async function registerRoutes(app: FastifyInstance, routes: readonly Route[], parts: RouteParts): Promise<void> {
  for (const route of routes) if (!route.operation.compressed) registerRoute(app, route, parts);
  await withCompression(app, (inner) => {
    for (const route of routes) if (route.operation.compressed) registerRoute(inner, route, parts);
  });
}
