// An operation as a plain object: what a feature's route.ts exports and routes.ts lists.
import type { Static, TSchema } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { App } from '../deps.ts';
import type { ConditionName } from '../errors.ts';

export const BODY_LIMIT = 64 * 1024;

/** What a handler gets: the validated body and whose app it is. */
export interface Call<Body> {
  /** Whose key it is; an operation without a key must not ask. */
  app: App;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
}

export interface Operation<Body extends TSchema = TSchema> {
  /** Also the label `operation` of the metrics: to reword it breaks dashboards. */
  summary: string;
  /** Longer words for the API reference. */
  description?: string;
  /** Schema of the JSON body; absent where the operation takes none. */
  body?: Body;
  headers?: TSchema;
  querystring?: TSchema;
  /** Schema per success status; null for an empty body. */
  answers: Record<number, TSchema | null>;
  /** The errors that it can give, beside those that every operation of its kind gives. */
  errors: readonly ConditionName[];
  /** Largest body in bytes; BODY_LIMIT unless set. */
  bodyLimit?: number;
  /** The handler judges the body itself, so that problems of body and headers come in one answer. */
  judgesBody?: true;
  /** Answers may be compressed. */
  compressed?: true;
  /** Answers may be CSV instead of JSON: what that has. */
  csv?: string;
  handle: (call: Call<Static<Body>>) => Promise<unknown>;
}

/** Keeps the type of the body from schema to handler. */
export function operation<Body extends TSchema>(definition: Operation<Body>): Operation {
  return definition as unknown as Operation;
}

/** A row of routes.ts. */
export interface Route {
  method: HTTPMethods;
  path: string;
  /** Which kind of key it asks for; `none` for what everybody may read. */
  key: 'public' | 'secret' | 'none';
  /** Which address it belongs to: `{base_url}` or `{admin_url}`. */
  address: 'base' | 'admin';
  operation: Operation;
}
