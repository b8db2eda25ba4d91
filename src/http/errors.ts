// Turns every failure, whatever raised it, into the envelope of interface 7. Internals go to the log, not to clients.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseUnavailable } from '../db/failures.ts';
import { ApiError, apiError, type ConditionName } from '../errors.ts';
import { setCommonHeaders } from './arrival.ts';
import { JSON_TYPE } from './json-type.ts';
import { recordEnd } from './request-end.ts';

const FASTIFY_CODES: Record<string, ConditionName> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_BAD_URL: 'path_not_found',
};

/** Maps anything thrown to a public error. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  const condition = FASTIFY_CODES[code];
  if (condition) return apiError(condition);
  // A file outside the folder of the API reference.
  if (statusCode === 403) return apiError('path_not_found');
  // Fastify's other client errors, such as a body that ends early.
  if (statusCode < 500) return apiError('malformed_request');
  return apiError(isDatabaseUnavailable(error) ? 'unavailable' : 'internal');
}

/** Whether a streamed response, such as a compressed one, failed because the client left before any of it was sent. */
function hasClientLeft({ raw }: FastifyReply, error: unknown): boolean {
  return raw.destroyed && (error as { code?: string }).code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const publicError = toApiError(error);
  if (publicError.statusCode >= 500 && publicError !== error && !hasClientLeft(reply, error))
    request.log.error({ err: error }, 'request failed');
  // After refusing a body, Fastify would close the connection. A client that is still sending would lose its response,
  // and requests sent ahead would lose theirs. On an open connection Node reads the rest of the body and drops it.
  reply.removeHeader('connection');
  return reply.code(publicError.statusCode).headers(publicError.headers).type(JSON_TYPE).send(publicError.body);
}

/** Answers requests whose URL the router cannot read; no hook has seen them. */
export function answerUnroutable(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  setCommonHeaders(request, reply);
  sendError(error, request, reply);
  recordEnd(reply, reply.statusCode);
}

export function registerErrors(app: FastifyInstance): void {
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => sendError(apiError('path_not_found'), request, reply));
}
