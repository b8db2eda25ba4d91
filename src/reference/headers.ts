// The headers of answers, for the API reference and for the tests, which hold every answer against them (decisions.md 1). Pure.
import type { Route } from '../http/operation.ts';

export interface AnswerHeader {
  name: string;
  description: string;
  /** JSON Schema of its value. */
  schema: Readonly<Record<string, unknown>>;
  /** Not all of the answers that may have it do. */
  isOptional?: true;
  /** Which answers have it. */
  isOf: (status: number, route: Route) => boolean;
}

/** Requests without a right key are counted nowhere. */
const isCounted: AnswerHeader['isOf'] = (status, { key }) => key !== 'none' && status !== 401;
const WITH_LIMIT = { schema: { type: 'integer', minimum: 0 }, isOptional: true, isOf: isCounted } as const;

export const ANSWER_HEADERS: readonly AnswerHeader[] = [
  {
    name: 'Request-Id',
    description: 'The id of the request; the log has it as `request_id`.',
    schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    isOf: () => true,
  },
  {
    name: 'Cache-Control',
    description: 'What a secret key may read is for nobody else.',
    schema: { type: 'string', const: 'no-store' },
    isOf: (_, { key }) => key === 'secret',
  },
  {
    name: 'WWW-Authenticate',
    description: 'The scheme of the `Authorization` header.',
    schema: { type: 'string', const: 'Api-Key' },
    isOf: (status) => status === 401,
  },
  {
    name: 'Retry-After',
    description: 'After so many seconds the request may be sent again.',
    schema: { type: 'integer', minimum: 1 },
    isOf: (status) => [409, 429, 503].includes(status),
  },
  { name: 'RateLimit-Limit', description: 'Requests per second, where they are limited.', ...WITH_LIMIT },
  { name: 'RateLimit-Remaining', description: 'Requests that are left of the running second.', ...WITH_LIMIT },
  { name: 'RateLimit-Reset', description: 'Seconds until all of them may be sent again.', ...WITH_LIMIT },
  {
    name: 'Access-Control-Allow-Origin',
    description: "Whose pages may read it: everybody's with a public key, else those of ADMIN_CORS_ORIGIN.",
    schema: { type: 'string' },
    isOptional: true,
    isOf: () => true,
  },
  {
    name: 'Content-Disposition',
    description: 'A name for the file, of CSV.',
    schema: { type: 'string' },
    isOptional: true,
    isOf: (status, { operation }) => operation.csv !== undefined && status === 200,
  },
];

/** Those of answers of a status. */
export function headersOf(route: Route, status: number): AnswerHeader[] {
  return ANSWER_HEADERS.filter(({ isOf }) => isOf(status, route));
}

/** All of them, by their names, as responses refer to them. */
export function describeHeaders(): Record<string, object> {
  const headers = ANSWER_HEADERS.map(({ name, description, schema, isOptional }) => [
    name,
    { description, required: !isOptional, schema },
  ]);
  return Object.fromEntries(headers);
}
