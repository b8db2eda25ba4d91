// Serves the dashboard, as built by Vite, at {admin_url}/dashboard/. The page loads everything from its own origin.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import staticFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { waitForTurn } from './pipelining.ts';

/** The same relative path works from src/http and from dist/http. */
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

/** Redirects to the URL with a slash, which the page's relative URLs need. */
function redirectToSlash(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const [path, ...query] = request.url.split('?');
  if (path === PATH) reply.redirect(['dashboard/', ...query].join('?'), 308);
  else done();
}

/** Registers the dashboard if it has been built. The operations do not need it. */
export async function registerPages(app: FastifyInstance): Promise<void> {
  if (!existsSync(FILES)) {
    app.log.warn({ missing: FILES }, 'the dashboard has not been built');
    return;
  }
  await app.register(async (pages) => {
    pages.addHook('onRequest', waitForTurn);
    pages.addHook('onRequest', setSecurityHeaders);
    pages.addHook('onRequest', redirectToSlash);
    await pages.register(staticFiles, {
      root: FILES,
      prefix: `${PATH}/`,
      wildcard: false,
      decorateReply: false,
      preCompressed: true,
      // No client needs ranges of these files, and one outside the file would be answered as broken HTTP.
      acceptRanges: false,
      cacheControl: false,
      globIgnore: ['**/*.{br,gz}'],
      setHeaders(reply, path) {
        // File names under assets/ change with their content.
        const isLasting = path.includes('/assets/');
        reply.header('cache-control', isLasting ? 'public, max-age=31536000, immutable' : 'no-cache');
        reply.header('vary', 'accept-encoding');
      },
    });
  });
}
