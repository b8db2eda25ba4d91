// The response headers, for the API reference and for the tests, which check every response against them
// (decisions.md 1). Pure.
import type { Route } from '../http/operation.ts';

export interface ResponseHeader {
  name: string;
  description: string;
  /** JSON Schema of its value. */
  schema: Readonly<Record<string, unknown>>;
  /** Set if some of the responses that may have the header lack it. */
  isOptional?: true;
  /** Whether responses of the route with this status may have the header. */
  appliesTo: (status: number, route: Route) => boolean;
}

/** Requests without a valid key count towards no rate limit. */
const isCounted: ResponseHeader['appliesTo'] = (status, { key }) => key !== 'none' && status !== 401;
const WITH_LIMIT = { schema: { type: 'integer', minimum: 0 }, isOptional: true, appliesTo: isCounted } as const;

export const RESPONSE_HEADERS: readonly ResponseHeader[] = [
  {
    name: 'Request-Id',
    description: 'Id of the request; `request_id` in the log.',
    schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    appliesTo: () => true,
  },
  {
    name: 'Cache-Control',
    description: 'Responses to requests with a secret key must not be cached.',
    schema: { type: 'string', const: 'no-store' },
    appliesTo: (_, { key }) => key === 'secret',
  },
  {
    name: 'WWW-Authenticate',
    description: 'The scheme of the `Authorization` header.',
    schema: { type: 'string', const: 'Api-Key' },
    appliesTo: (status) => status === 401,
  },
  {
    name: 'Accept-Encoding',
    description: 'The content encoding of request bodies, if theirs was refused.',
    schema: { type: 'string', const: 'identity' },
    isOptional: true,
    appliesTo: (status) => status === 415,
  },
  {
    name: 'Retry-After',
    description: 'Seconds after which the request may be retried.',
    schema: { type: 'integer', minimum: 1 },
    appliesTo: (status) => [409, 429, 503].includes(status),
  },
  { name: 'RateLimit-Limit', description: 'Requests allowed per second, if they are limited.', ...WITH_LIMIT },
  { name: 'RateLimit-Remaining', description: 'Requests left in the current second.', ...WITH_LIMIT },
  { name: 'RateLimit-Reset', description: 'Seconds until the full limit is available again.', ...WITH_LIMIT },
  {
    name: 'Access-Control-Allow-Origin',
    description: 'Origins whose pages may read the response: any with a public key, otherwise ADMIN_CORS_ORIGIN.',
    schema: { type: 'string' },
    isOptional: true,
    appliesTo: () => true,
  },
  {
    name: 'Content-Disposition',
    description: 'A name for the file; CSV only.',
    schema: { type: 'string' },
    isOptional: true,
    appliesTo: (status, { operation }) => operation.csv !== undefined && status === 200,
  },
];

/** Returns the headers that responses of a route may have, for a status. */
export function headersOf(route: Route, status: number): ResponseHeader[] {
  return RESPONSE_HEADERS.filter(({ appliesTo }) => appliesTo(status, route));
}

/** Describes all headers by name, for responses to refer to. */
export function describeHeaders(): Record<string, object> {
  const headers = RESPONSE_HEADERS.map(({ name, description, schema, isOptional }) => [
    name,
    { description, required: !isOptional, schema },
  ]);
  return Object.fromEntries(headers);
}
