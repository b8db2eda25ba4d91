// Limits requests per second and caller (decisions.md 1): server-side operations and analytics by key, attribution by
// client address, since all users of an app share its public key. Windows are fixed, last one second and live in this
// process's memory.
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Config } from '../config.ts';
import { apiError } from '../errors.ts';
import { LimitWindows } from './limit-windows.ts';
import type { Route } from './operation.ts';

/** Returns the hook that counts a route's requests after authentication; undefined if the route has no limit. */
export type LimitOf = (route: Route) => onRequestAsyncHookHandler | undefined;

const keyOf = ({ caller }: FastifyRequest) => caller?.key_id ?? '';
/** Counts an IPv6 client by its /64 network. A client that has disconnected has no address. */
const addressOf = ({ ip }: Partial<FastifyRequest>) => (ip ? normalizeIP(ip) : '');

/** Creates the limits. Routes of one kind share a count. */
export async function createLimits(app: FastifyInstance, config: Config): Promise<LimitOf> {
  await app.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    timeWindow: 1_000,
    store: LimitWindows,
    errorResponseBuilder: () => apiError('throttled') as never,
  });

  function createLimit(
    max: number,
    keyGenerator: (request: FastifyRequest) => string,
  ): onRequestAsyncHookHandler | undefined {
    return max === 0 ? undefined : app.rateLimit({ max, keyGenerator });
  }

  const attribution = createLimit(config.RATE_LIMIT_ATTRIBUTION_PER_IP, addressOf);
  const server = createLimit(config.RATE_LIMIT_SERVER, keyOf);
  const analytics = createLimit(config.RATE_LIMIT_ANALYTICS, keyOf);
  return ({ key, address }) => {
    if (key === 'none') return undefined;
    if (key === 'public') return attribution;
    return address === 'admin' ? analytics : server;
  };
}
