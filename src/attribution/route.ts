// Add attribution (interface 4.1).
import type { Deps } from '../deps.ts';
import { operation } from '../http/operation.ts';
import { AttributionBody } from './schema.ts';
import { createAttributionRecorder } from './service.ts';

export function addAttributionRoute(deps: Deps) {
  const recordAttribution = createAttributionRecorder(deps);
  return operation({
    summary: 'Add attribution',
    body: AttributionBody,
    responses: { 201: null },
    errors: ['profile_not_found'],
    handle({ app, body, request, reply }) {
      const recorded = recordAttribution(app, body);
      // Unread members of the body may take a megabyte, which would be held while the post waits. That is also why this
      // function is not async.
      request.body = undefined;
      return recorded.then(() => reply.code(201).send());
    },
  });
}
