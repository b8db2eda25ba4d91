// Requests per second and caller (decisions.md 1): server-side operations and analytics by key, attribution by client address
// (a public key is shared by every user of an app). One fixed window of a second, in this process's memory.
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { Config } from '../config.ts';
import { apiError } from '../errors.ts';
import { LimitWindows } from './limit-windows.ts';
import type { Route } from './operation.ts';

/** The hook that counts requests to a route after authentication; undefined where there is no limit. */
export type LimitOf = (route: Route) => onRequestAsyncHookHandler | undefined;

/** Routes of one kind share their count. An IPv6 client is its /64 network. */
export async function createLimits(app: FastifyInstance, config: Config): Promise<LimitOf> {
  await app.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    timeWindow: 1_000,
    store: LimitWindows,
    errorResponseBuilder: () => apiError('throttled') as never,
  });

  function createLimit(max: number, byKey: boolean): onRequestAsyncHookHandler | undefined {
    if (max === 0) return undefined;
    return app.rateLimit({
      max,
      ...(byKey && { keyGenerator: ({ caller }) => caller?.key_id ?? '' }),
    });
  }

  const attribution = createLimit(config.RATE_LIMIT_ATTRIBUTION_PER_IP, false);
  const server = createLimit(config.RATE_LIMIT_SERVER, true);
  const analytics = createLimit(config.RATE_LIMIT_ANALYTICS, true);
  return ({ key, address }) => {
    if (key === 'none') return undefined;
    if (key === 'public') return attribution;
    return address === 'admin' ? analytics : server;
  };
}
