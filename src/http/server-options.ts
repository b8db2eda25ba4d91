// Options of the HTTP server: timeouts, sizes, which proxies' X-Forwarded-For is trusted, what Fastify itself logs.
import type { Server } from 'node:http';
import { type FastifyHttpOptions, LogController } from 'fastify';
import type { Deps } from '../deps.ts';
import { createBrokenRequestHandler } from './broken-request.ts';
import { answerUnroutable } from './errors.ts';
import { BODY_LIMIT } from './operation.ts';
import { parseQuery } from './query.ts';
import { newRequestId } from './request-id.ts';

/** Longer than load balancers keep idle connections, so that they, not we, close them. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 2_000;

export function serverOptions({ config, log }: Pick<Deps, 'config' | 'log'>): FastifyHttpOptions<Server> {
  const { REQUEST_TIMEOUT_MS, TRUST_PROXY } = config;
  return {
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: newRequestId,
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Closes connections over which nothing moves (connections.ts), except between requests. A request that arrives too
    // slowly is answered before that.
    connectionTimeout: 2 * REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS),
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, REQUEST_TIMEOUT_MS),
      // Node would answer a missing Host with an empty body; arrival.ts answers with the envelope.
      requireHostHeader: false,
    },
    trustProxy: TRUST_PROXY.length > 0 ? [...TRUST_PROXY] : false,
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQuery },
    exposeHeadRoutes: true,
    // While closing, arrival.ts answers with the envelope.
    return503OnClosing: false,
    clientErrorHandler: createBrokenRequestHandler(log) as never,
    frameworkErrors: answerUnroutable as never,
  };
}
