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
    answers: { 201: null },
    errors: ['profile_not_found'],
    handle({ app, body, request, reply }) {
      const recorded = recordAttribution(app, body);
      // Members that nobody reads may take a megabyte, and would wait with it: so this function is not async, either.
      request.body = undefined;
      return recorded.then(() => reply.code(201).send());
    },
  });
}
