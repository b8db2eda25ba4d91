// buildApp: the only place that constructs Fastify. Registers what every request passes through, then the routes.
import Fastify, { type FastifyInstance } from 'fastify';
import { createKeyring } from './apps/keyring.ts';
import { attributionMetrics } from './attribution/metrics.ts';
import { poolMetrics } from './db/metrics.ts';
import type { Deps } from './deps.ts';
import { factMetrics } from './facts/metrics.ts';
import { compileValidator } from './http/ajv.ts';
import { registerArrival } from './http/arrival.ts';
import { registerBodies } from './http/body.ts';
import { answerOddRequests } from './http/broken-request.ts';
import { registerConnections } from './http/connections.ts';
import { registerErrors } from './http/errors.ts';
import { registerForwarded } from './http/forwarded.ts';
import { registerHealth } from './http/health.ts';
import { createLimits } from './http/limits.ts';
import { registerMetrics } from './http/metrics.ts';
import type { Route } from './http/operation.ts';
import { registerPages } from './http/pages.ts';
import { registerPipelineLimit } from './http/pipelining.ts';
import { pressureMetrics, registerPressure } from './http/pressure.ts';
import { registerRoutes } from './http/register-routes.ts';
import { registerRequestEnd } from './http/request-end.ts';
import { registerRequestLogger } from './http/request-logger.ts';
import { serverOptions } from './http/server-options.ts';
import { registerUnrouted } from './http/unrouted.ts';
import { registerReference } from './reference/pages.ts';
import { listRoutes } from './routes.ts';
import { VERSION } from './version.ts';
import { webhookMetrics } from './webhooks/metrics.ts';

/** Which addresses the app answers on: both, unless ADMIN_PORT splits them; then an app is built for each. */
export type Addresses = readonly Route['address'][];

export interface AppParts {
  app: FastifyInstance;
  /**
   * Fails readiness from now on and closes each connection after its next response, so that new requests go elsewhere.
   * Requests that still arrive are served.
   */
  startDraining: () => void;
}

/** Builds the service as a Fastify app that is not listening yet. */
export async function buildApp(deps: Deps, addresses: Addresses = ['base', 'admin']): Promise<AppParts> {
  const { config } = deps;
  const app = Fastify(serverOptions(deps)) as unknown as FastifyInstance;
  // Node would silently drop all headers after the thousandth; their size is limited anyway.
  app.server.maxHeadersCount = 0;
  answerOddRequests(app.server, deps.log);
  app.decorateRequest('caller', null);
  app.setValidatorCompiler(compileValidator as never);
  registerConnections(app, config.MAX_CONNECTIONS);
  registerRequestLogger(app);
  registerErrors(app);
  registerRequestEnd(app);
  registerForwarded(app, config);
  const arrival = registerArrival(app);
  registerPipelineLimit(app);
  registerPressure(app, config.MAX_LOOP_DELAY_MS);
  registerUnrouted(app);
  registerBodies(app);
  const health = registerHealth(app, deps);
  registerMetrics(app, deps, {
    isOpen: !addresses.includes('base'),
    version: VERSION,
    parts: [pressureMetrics, poolMetrics, attributionMetrics, () => factMetrics(deps), () => webhookMetrics(deps)],
  });
  const all = listRoutes(deps);
  const routes = all.filter(({ address }) => addresses.includes(address));
  const limitOf = await createLimits(app, config);
  await registerRoutes(app, routes, { config, keyring: createKeyring(deps.lookupDb), limitOf });
  if (addresses.includes('admin')) {
    await registerPages(app);
    await registerReference(app, all, addresses.includes('base') ? undefined : `http://localhost:${config.PORT}`);
  }
  const startDraining = () => {
    health.startDraining();
    arrival.startDraining();
  };
  return { app, startDraining };
}
