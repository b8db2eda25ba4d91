// One log line per request. The path without its query, never a header: no key reaches the log.
import type { FastifyInstance } from 'fastify';

export function registerRequestLog(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        path: request.routeOptions.url ?? request.url.split('?', 1)[0]?.slice(0, 200),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 1000) / 1000,
        app_id: request.caller?.app.app_id,
        key_id: request.caller?.key_id,
      },
      'request',
    );
  });
}
