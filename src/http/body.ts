// Request bodies: JSON in UTF-8 and nothing else (decisions.md 1).
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

// A byte order mark is no JSON: nothing is stripped.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(bytes: Buffer, done: (error: Error | null, body?: unknown) => void): void {
  let body: unknown;
  try {
    body = JSON.parse(utf8.decode(bytes));
  } catch {
    done(apiError('malformed_body'));
    return;
  }
  done(null, body);
}

/** Parses JSON bodies; an operation that declares a body is refused without one. */
export function registerBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, bytes: Buffer, done) => {
      // Some clients send the type with every request, a DELETE without a body too.
      if (bytes.length === 0) done(null, undefined);
      else parseJson(bytes, done);
    },
  );
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined && request.routeOptions.config.needsBody) done(apiError('malformed_body'));
    else done();
  });
}
