// Every failure, whatever raised it, as the envelope of interface 7. Nothing internal reaches a client; the log has it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseUnavailable } from '../db/failures.ts';
import { ApiError, apiError, type ConditionName } from '../errors.ts';
import { setCommonHeaders } from './arrival.ts';
import { tellEnd } from './ending.ts';
import { JSON_TYPE } from './json-type.ts';

const FASTIFY_CODES: Record<string, ConditionName> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_BAD_URL: 'path_not_found',
};

/** The public error of whatever was thrown. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  const condition = FASTIFY_CODES[code];
  if (condition) return apiError(condition);
  // A file outside of the folder of the API reference.
  if (statusCode === 403) return apiError('path_not_found');
  // Fastify's other faults of the client, such as a body that ends early.
  if (statusCode < 500) return apiError('malformed_request');
  return apiError(isDatabaseUnavailable(error) ? 'unavailable' : 'internal');
}

/** A stream, as compressed answers are, ends so where its client goes before any of it was sent. */
function isLeft({ raw }: FastifyReply, error: unknown): boolean {
  return raw.destroyed && (error as { code?: string }).code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = toApiError(error);
  if (answer.statusCode >= 500 && answer !== error && !isLeft(reply, error))
    request.log.error({ err: error }, 'request failed');
  // After a body that is refused Fastify would close the connection, which loses the answer of a client that still sends, and the answers to
  // requests sent ahead. Node reads what is left of the body and drops it.
  reply.removeHeader('connection');
  return reply.code(answer.statusCode).headers(answer.headers).type(JSON_TYPE).send(answer.body);
}

/** Answers requests whose URL the router cannot read; no hook has seen them. */
export function answerUnroutable(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  setCommonHeaders(request, reply);
  sendError(error, request, reply);
  tellEnd(reply, reply.statusCode);
}

export function registerErrors(app: FastifyInstance): void {
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => sendError(apiError('path_not_found'), request, reply));
}
