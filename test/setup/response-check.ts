// Checks every response against what its operation declares: a success against its schema, an error against the envelope
// and the conditions that the operation, or every operation, can give. Every call of the test service goes through it.
import { Type } from '@sinclair/typebox';
import { Ajv } from 'ajv';
import { type ApiError, CONDITIONS, type ConditionName, type ErrorBody } from '../../src/errors.ts';
import type { Route } from '../../src/http/operation.ts';
import { RESPONSE_HEADERS } from '../../src/reference/headers.ts';
import { validationCodesOf } from '../../src/reference/validation.ts';
import { findEventFault } from './events.ts';
import type { ServiceResponse } from './service.ts';

const ajv = new Ajv({
  allErrors: true,
  strict: false,
  formats: {
    text: true,
    datetime: true,
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  },
});

/** Returns what is wrong with the value by its schema; undefined if nothing. */
export function findSchemaFault(schema: object, value: unknown): string | undefined {
  const validate = ajv.compile(schema);
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

const isEnvelope = ajv.compile(
  Type.Object(
    {
      errors: Type.Array(
        Type.Object(
          {
            source: Type.Union([Type.String(), Type.Null()]),
            errors: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
          },
          { additionalProperties: false },
        ),
        { minItems: 1 },
      ),
      error_code: Type.String({ pattern: '^[a-z_]+$' }),
      status_code: Type.Integer(),
    },
    { additionalProperties: false },
  ),
);

/** The conditions that every operation can give, whatever it declares. */
const COMMON: readonly ConditionName[] = [
  'not_authenticated',
  'malformed_body',
  'malformed_request',
  'body_not_object',
  'method_not_allowed',
  'body_too_large',
  'unsupported_media_type',
  'throttled',
  'internal',
  'unavailable',
];

function assertThat(isTrue: boolean, what: string, response: ServiceResponse): void {
  if (!isTrue) throw new Error(`${what}: ${response.status} ${response.text.slice(0, 2000)}`);
}

function isDeclared({ error_code, status_code }: ErrorBody, { operation }: Route): boolean {
  if (status_code === 400 && validationCodesOf(operation).some((code) => code === error_code)) return true;
  const conditions = [...COMMON, ...operation.errors].map((name) => CONDITIONS[name]);
  return conditions.some(({ status, code }) => status === status_code && code === error_code);
}

/** For paths and methods that no operation has. */
const NO_ROUTE = { key: 'none', operation: {} } as Route;

const headerValidators = new Map(RESPONSE_HEADERS.map(({ name, schema }) => [name, ajv.compile(schema)]));

function checkHeaders(response: ServiceResponse, route: Route | undefined): void {
  const { headers, status } = response;
  assertThat(headers['x-content-type-options'] === 'nosniff', 'no nosniff', response);
  for (const { name, schema, isOptional, appliesTo } of RESPONSE_HEADERS) {
    const text = headers[name.toLowerCase()];
    const isDeclared = appliesTo(status, route ?? NO_ROUTE);
    if (text === undefined) {
      assertThat(!isDeclared || isOptional === true, `no ${name}`, response);
    } else if (route || name === 'Request-Id') {
      // /metrics takes a token of its own, and pages have headers of their own.
      const value = schema.type === 'integer' ? Number(text) : text;
      assertThat(isDeclared && headerValidators.get(name)!(value), `not the declared ${name}, ${text}`, response);
    }
  }
}

function checkError(response: ServiceResponse, route: Route | undefined): void {
  const body = response.json as ApiError['body'];
  assertThat(isEnvelope(body), 'not the envelope of interface 7', response);
  assertThat(body.status_code === response.status, 'status_code is not the status', response);
  if (route) assertThat(isDeclared(body, route), 'an error that the operation does not declare', response);
}

function checkEvents(response: ServiceResponse): void {
  for (const { payload } of response.json.data) {
    const fault = findEventFault(payload);
    assertThat(fault === undefined, fault ?? '', response);
  }
}

/** Returns a check for these routes, which throws if a response is not as declared. */
export function createResponseCheck(
  routes: readonly Route[],
): (method: string, path: string, response: ServiceResponse) => void {
  function checkSuccess(response: ServiceResponse, { operation }: Route): void {
    const schema = operation.responses[response.status];
    assertThat(schema !== undefined, 'a status that the operation does not declare', response);
    if (!schema) {
      assertThat(response.text === '', 'a body where none is declared', response);
      return;
    }
    if (response.json === undefined) return;
    const fault = findSchemaFault(schema, response.json);
    assertThat(fault === undefined, `not the declared response (${fault})`, response);
    if (operation.summary === 'List events') checkEvents(response);
  }

  return (method, path, response) => {
    const plain = path.split('?', 1)[0]?.replace(/(.)\/$/, '$1');
    const route = routes.find((one) => one.path === plain && one.method === method);
    checkHeaders(response, route);
    if (method === 'HEAD' || response.status < 200) return;
    if (response.status >= 400) checkError(response, route);
    else if (route) checkSuccess(response, route);
  };
}
