// An operation as a plain object. A feature's route.ts exports it, and routes.ts lists it.
import type { Static, TSchema } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { App } from '../deps.ts';
import type { ConditionName } from '../errors.ts';

export const BODY_LIMIT = 64 * 1024;

/** What a handler receives: the validated body and the caller's app. */
export interface Call<Body> {
  /** The app that the key belongs to. Throws in operations that need no key. */
  app: App;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
}

export interface Operation<Body extends TSchema = TSchema> {
  /** Also the value of the metrics' `operation` label, so rewording it breaks dashboards. */
  summary: string;
  /** A longer text for the API reference. */
  description?: string;
  /** Schema of the JSON body; absent if the operation takes none. */
  body?: Body;
  headers?: TSchema;
  querystring?: TSchema;
  /** Schema per success status; null for an empty body. */
  responses: Record<number, TSchema | null>;
  /** Errors it can return, besides those common to all operations of its kind. */
  errors: readonly ConditionName[];
  /** Largest body in bytes; BODY_LIMIT unless set. */
  bodyLimit?: number;
  /** The handler validates the body itself, so that one response can report problems of both body and headers. */
  validatesBody?: true;
  /** Responses may be compressed. */
  compressed?: true;
  /** Set if responses may be CSV instead of JSON: describes the CSV. */
  csv?: string;
  handle: (call: Call<Static<Body>>) => Promise<unknown>;
}

/** Infers the handler's body type from the schema. */
export function operation<Body extends TSchema>(definition: Operation<Body>): Operation {
  return definition as unknown as Operation;
}

/** A row of routes.ts. */
export interface Route {
  method: HTTPMethods;
  path: string;
  /** The kind of key it requires; `none` if anyone may read it. */
  key: 'public' | 'secret' | 'none';
  /** The address that serves it: `{base_url}` or `{admin_url}`. */
  address: 'base' | 'admin';
  operation: Operation;
}
