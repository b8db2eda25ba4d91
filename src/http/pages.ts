// The dashboard's files at {admin_url}/dashboard/, as Vite built them. Everything the page needs is of its own origin.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import staticFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inTurn } from './ahead.ts';

/** From src/http and from dist/http alike. */
const FILES = fileURLToPath(new URL('../../dist/dashboard/', import.meta.url));
const PATH = '/dashboard';

const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

function setSecurityHeaders(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.headers(SECURITY_HEADERS);
  done();
}

/** The addresses in the page are relative, so its own must end in a slash. */
function redirectToSlash(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const [path, ...query] = request.url.split('?');
  if (path === PATH) reply.redirect(['dashboard/', ...query].join('?'), 308);
  else done();
}

/** Without a build there is no page; the operations do not need one. */
export async function registerPages(app: FastifyInstance): Promise<void> {
  if (!existsSync(FILES)) {
    app.log.warn({ missing: FILES }, 'the dashboard is not built');
    return;
  }
  await app.register(async (pages) => {
    pages.addHook('onRequest', inTurn);
    pages.addHook('onRequest', setSecurityHeaders);
    pages.addHook('onRequest', redirectToSlash);
    await pages.register(staticFiles, {
      root: FILES,
      prefix: `${PATH}/`,
      wildcard: false,
      decorateReply: false,
      preCompressed: true,
      // Nobody asks for parts of these, and a part that is not there would be answered as broken HTTP.
      acceptRanges: false,
      cacheControl: false,
      globIgnore: ['**/*.{br,gz}'],
      setHeaders(reply, path) {
        // Names under assets/ change with their content.
        const isLasting = path.includes('/assets/');
        reply.header('cache-control', isLasting ? 'public, max-age=31536000, immutable' : 'no-cache');
        reply.header('vary', 'accept-encoding');
      },
    });
  });
}
