// Answers requests that never reach Fastify: broken HTTP, oversized headers, requests too slow, CONNECT.
// A parser error holds the raw bytes of the request, key included, so only its code is logged.
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type ApiError, apiError, type ConditionName } from '../errors.ts';
import { JSON_TYPE } from './json-type.ts';
import { countRefused } from './metrics.ts';
import { newRequestId } from './request-id.ts';

const CONDITIONS_BY_CODE: Record<string, ConditionName> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Time for the client to read the response before the connection is cut. */
const LINGER_MS = 1_000;

const ended = new WeakSet<object>();

/** Whether this module ended the connection. */
export function wasEnded(socket: Duplex): boolean {
  return ended.has(socket);
}

/** Ends the connection with `last`, and leaves the client time to read what was sent. */
function endSoftly(socket: Duplex, last = ''): void {
  ended.add(socket);
  socket.end(last);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function refuse(log: Logger, socket: Duplex, { error, cause }: { error: ApiError; cause: string }): void {
  const requestId = newRequestId();
  const text = JSON.stringify(error.body);
  const headers = {
    ...error.headers,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(text),
    'request-id': requestId,
    'x-content-type-options': 'nosniff',
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  endSoftly(
    socket,
    [`HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}`, ...lines, '', text].join('\r\n'),
  );
  countRefused(error.statusCode);
  log.info({ request_id: requestId, status: error.statusCode, cause }, 'request');
}

/** Returns the response that is due on the connection or being sent. */
function responseOf(socket: Duplex): ServerResponse | null | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
}

export function hasResponseBegun(socket: Duplex): boolean {
  return responseOf(socket)?.headersSent === true;
}

export function isResponseDue(socket: Duplex): boolean {
  return responseOf(socket)?.headersSent === false;
}

/** Whether the request that is still arriving has already been answered, as happens if its key is wrong. */
function isAnswered(socket: Duplex): boolean {
  const { parser } = socket as { parser?: { incoming?: IncomingMessage | null } | null };
  return parser?.incoming?.complete === false && !responseOf(socket);
}

/** Creates Fastify's clientErrorHandler. */
export function createBrokenRequestHandler(log: Logger): (error: Error & { code?: string }, socket: Duplex) => void {
  /** Connections where an earlier response must go out first. Each further byte raises another error, to be ignored. */
  const waiting = new WeakSet<Duplex>();

  return function handle(error, socket) {
    // Drop what still arrives: if the connection were cut, the client would lose the response.
    if (wasEnded(socket)) return;
    const { code = '' } = error;
    const due = responseOf(socket);
    if (code !== 'ECONNRESET' && socket.writable && due?.req.complete) {
      // The broken bytes follow a complete request. That request takes effect, so its response must not be lost.
      if (waiting.has(socket)) return;
      waiting.add(socket);
      due.once('close', () => {
        waiting.delete(socket);
        handle(error, socket);
      });
      return;
    }
    // Load balancers open connections in advance, and some never carry a byte.
    const isSilent = (socket as Socket).bytesRead === 0;
    if (code === 'ECONNRESET' || isSilent || !socket.writable || hasResponseBegun(socket)) {
      socket.destroy();
      return;
    }
    // The client would take a second response for that of its next request.
    if (isAnswered(socket)) endSoftly(socket);
    else refuse(log, socket, { error: apiError(CONDITIONS_BY_CODE[code] ?? 'malformed_request'), cause: code });
  };
}

/** Calls `refuseNext` once all earlier requests on the connection are answered, or never if it breaks first. */
function afterResponses(socket: Duplex, refuseNext: () => void): void {
  const due = responseOf(socket);
  if (due) due.once('close', () => afterResponses(socket, refuseNext));
  else refuseNext();
}

/** Handles the requests that Node itself would answer with an empty body, or not at all. */
export function answerOddRequests(server: Server, log: Logger): void {
  server.on('connect', (_request, socket) => {
    // Node no longer handles this socket's errors: without this listener, a client's reset would end the process.
    socket.on('error', () => socket.destroy());
    const error = apiError('method_not_allowed', 'CONNECT', { allow: 'GET, HEAD, POST, PATCH, DELETE' });
    afterResponses(socket, () => refuse(log, socket, { error, cause: 'CONNECT' }));
  });
  // An unknown Expect may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
