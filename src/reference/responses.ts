// The responses of an operation, for the OpenAPI document: the headers and schema of each status, and an example of
// each error. Pure.
import { apiError, type ConditionName, type ErrorBody } from '../errors.ts';
import type { Route } from '../http/operation.ts';
import { headersOf } from './headers.ts';
import { type Named, toJsonSchema } from './json-schema.ts';
import { validationCodesOf, validationExample } from './validation.ts';

type Json = Record<string, unknown>;

/** The errors of every operation that takes a key, and of every one that takes a body. */
const WITH_KEY: readonly ConditionName[] = ['not_authenticated', 'throttled'];
const WITH_BODY: readonly ConditionName[] = [
  'malformed_body',
  'body_not_object',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_content_encoding',
];
/** The errors that an unwanted body can cause, because it is read all the same. */
const WITH_UNWANTED_BODY = WITH_BODY.filter((name) => name !== 'body_not_object');
const ALWAYS: readonly ConditionName[] = ['internal', 'unavailable'];

/** Groups error examples by status. */
function errorsOf({ method, key, operation }: Route): Map<number, Map<string, ErrorBody>> {
  const names: ConditionName[] = [
    ...(key === 'none' ? [] : WITH_KEY),
    ...(operation.body ? WITH_BODY : method === 'GET' ? [] : WITH_UNWANTED_BODY),
    ...operation.errors,
    ...ALWAYS,
  ];
  const byStatus = new Map<number, Map<string, ErrorBody>>();
  const add = (name: string, body: ErrorBody) => {
    const examples = byStatus.get(body.status_code) ?? new Map();
    byStatus.set(body.status_code, examples.set(name, body));
  };
  for (const code of validationCodesOf(operation)) add(`validation_${code}`, validationExample(code));
  for (const name of names) add(name, apiError(name, 'premium').body);
  return byStatus;
}

function headersIn(route: Route, status: number): Json {
  return Object.fromEntries(
    headersOf(route, status).map(({ name }) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function errorResponses(route: Route): Json {
  const responses = [...errorsOf(route)].map(([status, examples]) => {
    const codes = [...new Set([...examples.values()].map(({ error_code }) => error_code))];
    const schema = {
      allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { error_code: { type: 'string', enum: codes } } }],
    };
    const references = [...examples.keys()].map((name) => [name, { $ref: `#/components/examples/${name}` }]);
    return [
      status,
      {
        description: codes.join(', '),
        headers: headersIn(route, status),
        content: { 'application/json': { schema, examples: Object.fromEntries(references) } },
      },
    ];
  });
  return Object.fromEntries(responses);
}

function successResponses(route: Route, named: Named): Json {
  const { responses, csv } = route.operation;
  const described = Object.entries(responses).map(([status, schema]) => {
    const headers = headersIn(route, Number(status));
    if (!schema) return [status, { description: 'Done; the body is empty.', headers }];
    const content = {
      'application/json': { schema: toJsonSchema(schema, named) },
      ...(csv && { 'text/csv': { schema: { type: 'string', description: csv } } }),
    };
    return [status, { description: 'Done.', headers, content }];
  });
  return Object.fromEntries(described);
}

export function describeResponses(route: Route, named: Named): Json {
  return { ...successResponses(route, named), ...errorResponses(route) };
}

/** Returns an example of each error that these routes can give, under the names by which responses refer to them. */
export function describeErrors(routes: readonly Route[]): Json {
  const examples = routes.flatMap((route) => [...errorsOf(route).values()].flatMap((byName) => [...byName]));
  return Object.fromEntries(examples.map(([name, value]) => [name, { value }]));
}
