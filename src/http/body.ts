// Request bodies: JSON in UTF-8 and nothing else (decisions 1).
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw apiError('malformed_body');
  }
}

/** Parses JSON bodies; an operation that declares a body is refused without one. */
export function registerBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, bytes: Buffer) =>
      // Some clients send the type with every request, a DELETE without a body too.
      bytes.length === 0 ? undefined : parseJson(bytes),
  );
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.config.needsBody) throw apiError('malformed_body');
  });
}
