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
    async handle({ app, body, reply }) {
      await recordAttribution(app, body);
      return reply.code(201).send();
    },
  });
}
