// Request bodies: JSON in UTF-8 and nothing else, not compressed (decisions.md 1).
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { apiError } from '../errors.ts';

// A byte order mark is not stripped: it is not valid JSON, so the parser refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const EMPTY = Buffer.alloc(0);
const MIN_CAPACITY = 4_096;

type Done<T> = (error: Error | null, result?: T) => void;

/** Returns a buffer with room for `needed` bytes that holds the content of `old`. */
function ensureCapacity(old: Buffer, needed: number, maxBytes: number): Buffer {
  if (needed <= old.length) return old;
  const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * needed, MIN_CAPACITY), maxBytes));
  old.copy(larger);
  return larger;
}

/**
 * Collects the body and passes it on when it is complete. Chunks are copied into one buffer as they arrive. Fastify
 * would keep them one by one, each costing some hundred bytes, and a client may send every byte as a chunk of its own.
 */
function collectBody(request: IncomingMessage, maxBytes: number, done: Done<Buffer>): void {
  /** NaN if the body comes in chunks. */
  const contentLength = Number(request.headers['content-length']);
  let bytes: Buffer = EMPTY;
  let length = 0;

  function finish(...outcome: Parameters<Done<Buffer>>): void {
    request.off('data', onData).off('end', onEnd).off('error', onError);
    done(...outcome);
  }
  function onData(piece: Buffer): void {
    const needed = length + piece.length;
    if (needed > maxBytes) {
      finish(apiError('body_too_large'));
    } else if (needed === contentLength && length === 0) {
      // The usual case: the whole body arrives at once and need not be copied.
      bytes = piece;
    } else {
      bytes = ensureCapacity(bytes, needed, maxBytes);
      piece.copy(bytes, length);
    }
    length = needed;
  }
  const onEnd = () => finish(null, bytes.subarray(0, length));
  // The client has gone.
  const onError = () => finish(apiError('malformed_request'));

  if (contentLength > maxBytes) done(apiError('body_too_large'));
  else request.on('data', onData).on('end', onEnd).on('error', onError);
}

function parseJson(bytes: Buffer, done: Done<unknown>): void {
  let body: unknown;
  try {
    body = JSON.parse(utf8.decode(bytes));
  } catch {
    done(apiError('malformed_body'));
    return;
  }
  done(null, body);
}

/** Parses JSON bodies, and refuses requests without a body to operations that declare one. */
export function registerBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const { 'content-encoding': encoding = 'identity' } = payload.headers;
    if (encoding.toLowerCase() !== 'identity') {
      // Read as it is, it would be refused as malformed JSON, and nobody would know why.
      done(apiError('unsupported_content_encoding'));
      return;
    }
    collectBody(payload, request.routeOptions.bodyLimit, (error, bytes = EMPTY) => {
      if (error) done(error);
      // Some clients send the content type with every request, even a DELETE without a body.
      else if (bytes.length === 0) done(null, undefined);
      else parseJson(bytes, done);
    });
  });
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined && request.routeOptions.config.needsBody) done(apiError('malformed_body'));
    else done();
  });
}
