// Recording an attribution: answered once it is committed, together with whatever else arrived meanwhile.
import type { App, Deps } from '../deps.ts';
import { apiError } from '../errors.ts';
import { isUuid } from '../profile/identity.ts';
import { createGroupWriter } from './group.ts';
import { createLabels, type Label } from './labels.ts';
import { type AttributionRow, writeAttributions } from './queries.ts';
import type { AttributionBody } from './schema.ts';

/** Attributions of the API name no source; charts show them under this one (decisions 4). */
const API_SOURCE = 'custom';

function labelOf(body: AttributionBody): Label {
  return {
    status: body.status,
    channel: body.channel || null,
    campaign: body.campaign || null,
    ad_group: body.ad_group || null,
    ad_set: body.ad_set || null,
    creative: body.creative || null,
    source: API_SOURCE,
  };
}

interface Request {
  app: App;
  body: AttributionBody;
}

/** Makes `recordAttribution(app, body)`; it throws profile_not_found, or unavailable when too much is waiting. */
export function createAttributionRecorder({
  db,
}: Pick<Deps, 'db'>): (app: App, body: AttributionBody) => Promise<void> {
  const labels = createLabels(db);

  function createWriter(policy: App['attribution_policy']) {
    return createGroupWriter(async (requests: readonly Request[]) => {
      const keys = await labels.keysOf(requests.map(({ body }) => labelOf(body)));
      const rows = requests.map(
        ({ app, body }, index): AttributionRow => ({
          app_id: app.app_id,
          customer_user_id: body.customer_user_id || null,
          profile_id: body.profile_id || null,
          attribution_key: keys[index] as number,
          attribution_user_id: body.attribution_user_id || null,
        }),
      );
      return writeAttributions(db, rows, policy === 'last');
    });
  }

  const enqueue = { first: createWriter('first'), last: createWriter('last') };

  return async (app, body) => {
    if (body.profile_id && !isUuid(body.profile_id)) throw apiError('profile_not_found');
    const isFound = await enqueue[app.attribution_policy](app.app_id, { app, body });
    if (!isFound) throw apiError('profile_not_found');
  };
}
