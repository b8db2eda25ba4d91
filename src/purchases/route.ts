// Set transaction.
import { handleChange } from '../changes/change-route.ts';
import type { Deps } from '../deps.ts';
import { operation } from '../http/operation.ts';
import { OnceHeaders } from '../profile/identity.ts';
import { ProfileResponse } from '../profile/schema.ts';
import { TransactionBody } from './schema.ts';
import { setTransaction } from './service.ts';

export function setTransactionRoute(deps: Deps) {
  return operation({
    summary: 'Set transaction',
    description:
      'Records a transaction of the profile. An id that its chain already has replaces that transaction as a whole; a new id continues the chain.',
    headers: OnceHeaders,
    body: TransactionBody,
    responses: { 200: ProfileResponse },
    errors: ['profile_not_named', 'profile_not_found', 'idempotency_in_flight'],
    handle: handleChange(deps, (request) => setTransaction(deps, request)),
  });
}
