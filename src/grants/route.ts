// Grant access level (interface 4.3).
import type { Deps } from '../deps.ts';
import { operation } from '../http/operation.ts';
import { requireIdentity } from '../profile/identity.ts';
import { renderProfile } from '../profile/object.ts';
import { ProfileAnswer } from '../profile/schema.ts';
import { GrantBody } from './schema.ts';
import { grantAccessLevel } from './service.ts';

export function grantAccessLevelRoute(deps: Deps) {
  return operation({
    summary: 'Grant access level',
    body: GrantBody,
    answers: { 200: ProfileAnswer },
    errors: ['profile_not_named', 'profile_not_found', 'access_level_not_found'],
    async handle({ app, body, request }) {
      const identity = requireIdentity(request.headers, deps.config.HEADER_ALIASES);
      const state = await grantAccessLevel(deps, { app, identity, grant: body });
      return { data: renderProfile(state, app) };
    },
  });
}
