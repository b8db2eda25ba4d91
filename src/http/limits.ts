// Requests per second and caller (decisions.md 1): server-side operations and analytics by key, attribution by client address
// (a public key is shared by every user of an app). One fixed window of a second, in this process's memory.
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Config } from '../config.ts';
import { apiError } from '../errors.ts';
import { LimitWindows } from './limit-windows.ts';
import type { Route } from './operation.ts';

/** The hook that counts requests to a route after authentication; undefined where there is no limit. */
export type LimitOf = (route: Route) => onRequestAsyncHookHandler | undefined;

const keyOf = ({ caller }: FastifyRequest) => caller?.key_id ?? '';
/** An IPv6 client is its /64 network. Of one that has left there is no address. */
const addressOf = ({ ip }: Partial<FastifyRequest>) => (ip ? normalizeIP(ip) : '');

/** Routes of one kind share their count. */
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
