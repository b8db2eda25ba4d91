// Builds the OpenAPI 3.1 document from what the service itself runs on: route schemas and the catalogues of errors,
// charts and events. Pure. docs/openapi.json is this document, and a test compares the two.
import type { TSchema } from '@sinclair/typebox';
import { BODY_LIMIT, type Operation, type Route } from '../http/operation.ts';
import { EVENT_TYPE_NAMES, EVENT_TYPES } from '../webhooks/catalogue.ts';
import { eventPayload, TestEvent } from '../webhooks/schema.ts';
import { describeCharts } from './charts.ts';
import { describeHeaders } from './headers.ts';
import { type Named, toJsonSchema } from './json-schema.ts';
import { describeErrors, describeResponses } from './responses.ts';

type Json = Record<string, unknown>;

const TAGS = {
  base: { name: 'Profiles and server-side', description: 'At `{base_url}`.' },
  admin: {
    name: 'Analytics and events',
    description: 'At `{admin_url}`, which is `{base_url}` unless configured separately.',
  },
};

const INFO = `Profiles, marketing attribution, access levels, webhooks and charts for apps that sell subscriptions.

Datetimes are ISO 8601 with microseconds and a numeric offset without a colon. Requests may also use \`Z\`, an offset with a colon, or no offset, which means UTC.
Texts must not contain U+0000 or unpaired surrogates. Every error has the envelope \`Error\`;
clients should branch on \`error_code\`. A trailing slash makes no difference.`;

function parametersOf(schema: TSchema | undefined, place: 'header' | 'query', named: Named): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Json; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = toJsonSchema(property as TSchema, named);
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    };
  });
}

function operationId({ summary }: Operation): string {
  return summary.toLowerCase().replace(/[^a-z]+(.)/g, (_, letter: string) => letter.toUpperCase());
}

function describeOperation(route: Route, named: Named): Json {
  const { key, address, operation } = route;
  const parameters = [
    ...parametersOf(operation.headers, 'header', named),
    ...parametersOf(operation.querystring, 'query', named),
  ];
  return {
    operationId: operationId(operation),
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    tags: [TAGS[address].name],
    security: key === 'none' ? [] : [{ [`${key}Key`]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && {
      requestBody: {
        required: true,
        description: `At most ${(operation.bodyLimit ?? BODY_LIMIT) / 1024} KiB.`,
        content: { 'application/json': { schema: toJsonSchema(operation.body, named) } },
      },
    }),
    responses: describeResponses(route, named),
  };
}

/** Describes where the operations of `{base_url}` are, for a document served at a separate `{admin_url}`. */
function describeBaseUrl(baseUrl: string): Json {
  const description = 'The `{base_url}` that clients use.';
  return { url: '{base_url}', description, variables: { base_url: { default: baseUrl, description } } };
}

function describePaths(routes: readonly Route[], named: Named, baseUrl: string | undefined): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = `${route.path}/`;
    paths[path] = {
      ...paths[path],
      ...(baseUrl !== undefined && route.address === 'base' && { servers: [describeBaseUrl(baseUrl)] }),
      [String(route.method).toLowerCase()]: describeOperation(route, named),
    };
  }
  return paths;
}

function describeEvents(named: Named): Json {
  const types = [
    ...EVENT_TYPE_NAMES.map((name) => ({
      name,
      summary: EVENT_TYPES[name],
      delivery: 'delivered at least once, in order per profile; a failed delivery is retried',
      payload: eventPayload(name),
    })),
    {
      name: 'test',
      summary: 'A webhook was added, changed or tested.',
      delivery: 'sent once, and not in the event feed',
      payload: TestEvent,
    },
  ];
  const events = types.map(({ name, summary, delivery, payload }) => [
    name,
    {
      post: {
        operationId: name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
        summary,
        description: `Signed according to the Standard Webhooks specification; ${delivery}.`,
        tags: ['Events'],
        security: [],
        parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((header) => ({
          name: header,
          in: 'header',
          required: true,
          schema: { type: 'string' },
        })),
        requestBody: {
          required: true,
          content: { 'application/json': { schema: toJsonSchema(payload, named) } },
        },
        responses: { '2XX': { description: 'Received. Any other response counts as a failure.' } },
      },
    },
  ]);
  return Object.fromEntries(events);
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['errors', 'error_code', 'status_code'],
  properties: {
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['source', 'errors'],
        properties: {
          source: { type: ['string', 'null'], description: 'The offending field, or non_field_errors, or null.' },
          errors: { type: 'array', items: { type: 'string' }, description: 'Messages.' },
        },
      },
    },
    error_code: { type: 'string', description: 'Short error name: that of the first entry in `errors`.' },
    status_code: { type: 'integer', description: 'HTTP status.' },
  },
};

function keyScheme(kind: string): Json {
  return { type: 'apiKey', in: 'header', name: 'Authorization', description: `\`Api-Key <${kind} key>\`` };
}

/**
 * Builds the document of all routes, at both addresses. `baseUrl` is set if the operations of `{base_url}` are not at
 * the address that serves the document.
 */
export function buildOpenApi(routes: readonly Route[], version: string, baseUrl?: string): Json {
  const named: Named = new Map();
  const paths = describePaths(routes, named, baseUrl);
  const webhooks = describeEvents(named);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Subscription Profile Service',
      version,
      description: INFO,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: [
      ...Object.values(TAGS),
      { name: 'Events', description: 'Events that the service sends to webhooks.' },
      { name: 'Charts', description: describeCharts() },
    ],
    security: [],
    paths,
    webhooks,
    components: {
      securitySchemes: { publicKey: keyScheme('public'), secretKey: keyScheme('secret') },
      headers: describeHeaders(),
      schemas: { Error: ERROR_SCHEMA, ...Object.fromEntries(named) },
      examples: describeErrors(routes),
    },
  };
}
