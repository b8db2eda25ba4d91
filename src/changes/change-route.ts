// The HTTP side shared by all operations that change one profile.
import type { Deps } from '../deps.ts';
import { readOnce } from '../http/idempotency.ts';
import { JSON_TYPE } from '../http/json-type.ts';
import type { Call } from '../http/operation.ts';
import { requireIdentity } from '../profile/identity.ts';
import type { ChangeRequest } from './change.ts';

/** Returns a handler that reads the profile identity and the Idempotency-Key. `change` returns the response as JSON. */
export function handleChange<Body>(
  { config }: Pick<Deps, 'config'>,
  change: (request: ChangeRequest & { body: Body }) => Promise<string>,
): (call: Call<Body>) => Promise<unknown> {
  return async ({ app, body, request, reply }) => {
    const identity = requireIdentity(request.raw, config.HEADER_ALIASES);
    const idempotency = readOnce(request.raw, body);
    return reply.type(JSON_TYPE).send(await change({ app, identity, idempotency, body }));
  };
}
