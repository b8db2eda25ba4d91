// Create, read, update and delete a profile: one path, four methods.
import type { Deps } from '../deps.ts';
import { operation } from '../http/operation.ts';
import { ProfileBody } from './body.ts';
import { ProfileHeaders, readIdentity, refuseIdentifiers, requireIdentity } from './identity.ts';
import { renderProfile } from './object.ts';
import { deleteProfile } from './removal.ts';
import { ProfileResponse } from './schema.ts';
import { createProfile, readProfile, updateProfile } from './service.ts';

export function createProfileRoute(deps: Deps) {
  return operation({
    summary: 'Create or update a profile',
    description:
      'The customer user id alone finds or creates its profile. Together with service-profile-id, it is given to that profile. ' +
      'Without either, an anonymous profile is created. The body cannot name a profile.',
    headers: ProfileHeaders,
    body: ProfileBody,
    responses: { 200: ProfileResponse },
    errors: ['profile_not_found'],
    async handle({ app, body, request }) {
      const identity = readIdentity(request.raw, deps.config.HEADER_ALIASES);
      refuseIdentifiers(body, identity);
      return { data: renderProfile(await createProfile(deps, { app, identity, body }), app) };
    },
  });
}

export function readProfileRoute(deps: Deps) {
  return operation({
    summary: 'Get a profile',
    headers: ProfileHeaders,
    responses: { 200: ProfileResponse },
    errors: ['profile_not_named', 'profile_not_found'],
    async handle({ app, request }) {
      const identity = requireIdentity(request.raw, deps.config.HEADER_ALIASES);
      return { data: renderProfile(await readProfile(deps, { app, identity }), app) };
    },
  });
}

export function updateProfileRoute(deps: Deps) {
  return operation({
    summary: 'Update a profile',
    description: 'Changes what the body gives and keeps the rest.',
    headers: ProfileHeaders,
    body: ProfileBody,
    responses: { 200: ProfileResponse },
    errors: ['profile_not_named', 'profile_not_found'],
    async handle({ app, body, request }) {
      const identity = requireIdentity(request.raw, deps.config.HEADER_ALIASES);
      return { data: renderProfile(await updateProfile(deps, { app, identity, body }), app) };
    },
  });
}

export function deleteProfileRoute(deps: Deps) {
  return operation({
    summary: 'Delete a profile',
    description:
      'Deletes its customer user id, attributes, attribution and grants for good, and removes what names or describes the user from its events. Its profile id is never used again. Charts keep their figures. ' +
      "Its transaction chains no longer belong to anyone: if a transaction of one arrives for another profile, the whole chain becomes that profile's, in charts, too.",
    headers: ProfileHeaders,
    responses: { 204: null },
    errors: ['profile_not_named', 'profile_not_found'],
    async handle({ app, request, reply }) {
      const identity = requireIdentity(request.raw, deps.config.HEADER_ALIASES);
      await deleteProfile(deps, { app, identity });
      return reply.code(204).send();
    },
  });
}
