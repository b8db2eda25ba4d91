// Serves the API reference at {admin_url}: the document at /openapi.json and a page at /docs/. Everything comes from
// the installed package; nothing is loaded from other hosts.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from '../http/json-type.ts';
import type { Route } from '../http/operation.ts';
import { waitForTurn } from '../http/pipelining.ts';
import { VERSION } from '../version.ts';
import { buildOpenApi } from './openapi.ts';

/** Swagger UI sets some inline styles and draws its icons from `data:` URLs. The rest of it needs no exceptions. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Registers the pages. `baseUrl` is set if the operations of `{base_url}` are not on this address. */
export async function registerReference(
  app: FastifyInstance,
  routes: readonly Route[],
  baseUrl?: string,
): Promise<void> {
  const document = buildOpenApi(routes, VERSION, baseUrl);
  const text = JSON.stringify(document);
  app.get('/openapi.json', async (_request, reply) => reply.type(JSON_TYPE).send(text));
  await app.register(async (pages) => {
    pages.addHook('onRequest', waitForTurn);
    await pages.register(swagger, { mode: 'static', specification: { document: document as never } });
    await pages.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: POLICY,
      indexPrefix: '',
      uiConfig: {
        layout: 'BaseLayout',
        deepLinking: true,
        docExpansion: 'list',
        defaultModelsExpandDepth: 0,
        tryItOutEnabled: false,
      },
    });
  });
}
