// buildApp: the only Fastify constructor. Hooks that every request passes, then the routes.
import type { Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyServerOptions, type HTTPMethods } from 'fastify';
import { createKeyring } from './apps/keyring.ts';
import type { Deps } from './deps.ts';
import { apiError } from './errors.ts';
import { compileValidator } from './http/ajv.ts';
import { authenticate } from './http/auth.ts';
import { registerBodies } from './http/body.ts';
import { answerBrokenRequest, registerErrors, sendError } from './http/errors.ts';
import { registerHealth } from './http/health.ts';
import { registerLimits } from './http/limits.ts';
import type { Route } from './http/operation.ts';
import { newRequestId } from './http/request-id.ts';
import { registerRequestLog } from './http/request-log.ts';
import { listRoutes } from './routes.ts';

/** Which addresses the app answers on: both, unless ADMIN_PORT splits them. */
export type Addresses = readonly Route['address'][];

const BODY_LIMIT = 64 * 1024;
const ALL_METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

function serverOptions(deps: Deps): FastifyServerOptions<Server> {
  return {
    loggerInstance: deps.log,
    genReqId: newRequestId,
    disableRequestLogging: true,
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    trustProxy: deps.config.TRUST_PROXY.length > 0 ? [...deps.config.TRUST_PROXY] : false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    exposeHeadRoutes: true,
    return503OnClosing: false,
    clientErrorHandler: answerBrokenRequest as never,
    frameworkErrors: ((error: Error, request: never, reply: never) => sendError(error, request, reply)) as never,
  };
}

function registerRoutes(app: FastifyInstance, deps: Deps, routes: readonly Route[]): void {
  const keyring = createKeyring(deps.db);
  const methodsByPath = new Map<string, HTTPMethods[]>();
  for (const { method, path, key, address, operation } of routes) {
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method]);
    app.route({
      method,
      url: path,
      bodyLimit: operation.bodyLimit ?? BODY_LIMIT,
      config: { needsBody: operation.body !== undefined, operation: operation.summary },
      schema: {
        ...(operation.body && { body: operation.body }),
        ...(operation.querystring && { querystring: operation.querystring }),
      },
      onRequest: [authenticate(keyring, { kind: key, charts: address === 'admin' })],
      ...(key === 'secret' && {
        onSend: async (_request, reply, payload) => {
          reply.header('cache-control', 'no-store');
          return payload;
        },
      }),
      handler: (request, reply) => {
        if (!request.caller) throw apiError('not_authenticated');
        return operation.handle({ app: request.caller.app, body: request.body as never, request, reply });
      },
    });
  }
  for (const [path, methods] of methodsByPath) refuseOtherMethods(app, path, methods);
}

function refuseOtherMethods(app: FastifyInstance, path: string, methods: readonly HTTPMethods[]): void {
  const allowed = methods.includes('GET') ? [...methods, 'HEAD' as const] : methods;
  const refuse = async (request: { method: string }) => {
    throw apiError('method_not_allowed', request.method, { allow: allowed.join(', ') });
  };
  app.route({
    method: ALL_METHODS.filter((method) => !allowed.includes(method)),
    url: path,
    onRequest: refuse,
    handler: refuse,
  });
}

export interface AppParts {
  app: FastifyInstance;
  /** From now on readiness fails, so that no new requests are sent here; the running ones go on. */
  startDraining: () => void;
}

/** The service as a Fastify app, not yet listening. */
export async function buildApp(deps: Deps, addresses: Addresses = ['base', 'admin']): Promise<AppParts> {
  const app = Fastify(serverOptions(deps)) as unknown as FastifyInstance;
  app.decorateRequest('caller', null);
  app.setValidatorCompiler(compileValidator as never);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('request-id', request.id);
  });
  registerRequestLog(app);
  registerErrors(app);
  registerBodies(app);
  const { startDraining } = registerHealth(app, deps);
  await registerLimits(app, deps);
  registerRoutes(
    app,
    deps,
    listRoutes(deps).filter(({ address }) => addresses.includes(address)),
  );
  return { app, startDraining };
}
