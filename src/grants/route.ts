// Grant access level (interface 4.3) and revoke access level.
import { handleChange } from '../changes/change-route.ts';
import type { Deps } from '../deps.ts';
import { operation } from '../http/operation.ts';
import { OnceHeaders } from '../profile/identity.ts';
import { ProfileResponse } from '../profile/schema.ts';
import { GrantBody, RevokeBody } from './schema.ts';
import { createGrantor, revokeAccessLevel } from './service.ts';

export function grantAccessLevelRoute(deps: Deps) {
  return operation({
    summary: 'Grant access level',
    headers: OnceHeaders,
    body: GrantBody,
    responses: { 200: ProfileResponse },
    errors: ['profile_not_named', 'profile_not_found', 'access_level_not_found', 'idempotency_in_flight'],
    handle: handleChange(deps, createGrantor(deps)),
  });
}

export function revokeAccessLevelRoute(deps: Deps) {
  return operation({
    summary: 'Revoke access level',
    description: 'Ends a grant. Access that a purchase gives stays, and the response shows it.',
    headers: OnceHeaders,
    body: RevokeBody,
    responses: { 200: ProfileResponse },
    errors: [
      'profile_not_named',
      'profile_not_found',
      'access_level_not_found',
      'grant_not_found',
      'revocation_after_end',
      'idempotency_in_flight',
    ],
    handle: handleChange(deps, (request) => revokeAccessLevel(deps, request)),
  });
}
