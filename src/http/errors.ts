// Every failure, whatever raised it, as the envelope of interface 7. Nothing internal reaches a client; the log has it.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseUnavailable } from '../db/failures.ts';
import { ApiError, apiError, type ConditionName } from '../errors.ts';
import { newRequestId } from './request-id.ts';

const FASTIFY_CODES: Record<string, ConditionName> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'path_not_found',
  FST_ERR_ASYNC_CONSTRAINT: 'path_not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'path_not_found',
};

const PARSER_CODES: Record<string, ConditionName> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** The public error of whatever was thrown. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code } = error as { code?: string };
  const condition = code === undefined ? undefined : FASTIFY_CODES[code];
  if (condition) return apiError(condition);
  return apiError(isDatabaseUnavailable(error) ? 'unavailable' : 'internal');
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = toApiError(error);
  if (answer.statusCode >= 500 && answer !== error) request.log.error({ err: error }, 'request failed');
  return reply
    .code(answer.statusCode)
    .headers(answer.headers)
    .type('application/json; charset=utf-8')
    .send(answer.body);
}

/** Answers what is not even HTTP, before Fastify sees a request. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { body, statusCode } = apiError(PARSER_CODES[error.code ?? ''] ?? 'malformed_request');
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${statusCode} ${body.error_code}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `Request-Id: ${newRequestId()}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

export function registerErrors(app: FastifyInstance): void {
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => sendError(apiError('path_not_found'), request, reply));
}
