// The operation of the event feed (decisions.md 7).
import type { Deps } from '../../deps.ts';
import { disconnectSignal } from '../../http/disconnect.ts';
import { operation } from '../../http/operation.ts';
import { EventsQuery, EventsResponse } from './schema.ts';
import { listEvents } from './service.ts';

export function listEventsRoute(deps: Deps) {
  return operation({
    summary: 'List events',
    description:
      'Lists the events of the app, newest first. Events are recorded only while the app has a webhook that is not disabled.',
    querystring: EventsQuery,
    responses: { 200: EventsResponse },
    errors: [],
    handle: ({ app, request, reply }) =>
      listEvents(deps, { app, query: request.query as EventsQuery, signal: disconnectSignal(reply) }),
  });
}
