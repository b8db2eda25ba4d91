// Set transaction.
import type { Deps } from '../deps.ts';
import { readOnce } from '../http/idempotency.ts';
import { operation } from '../http/operation.ts';
import { OnceHeaders, requireIdentity } from '../profile/identity.ts';
import { ProfileAnswer } from '../profile/schema.ts';
import { TransactionBody } from './schema.ts';
import { setTransaction } from './service.ts';

export function setTransactionRoute(deps: Deps) {
  return operation({
    summary: 'Set transaction',
    description:
      'Records a transaction of the profile: the same id in its chain replaces that transaction as a whole, another id continues the chain.',
    headers: OnceHeaders,
    body: TransactionBody,
    answers: { 200: ProfileAnswer },
    errors: ['profile_not_named', 'profile_not_found', 'idempotency_in_flight'],
    async handle({ app, body, request, reply }) {
      const identity = requireIdentity(request.headers, deps.config.HEADER_ALIASES);
      const once = readOnce(request.headers, body);
      const answer = await setTransaction(deps, { app, identity, once, body });
      return reply.type('application/json; charset=utf-8').send(answer);
    },
  });
}
