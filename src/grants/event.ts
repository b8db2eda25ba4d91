// What the webhooks are told of a grant (decisions 7). Pure.
import { fromDatabase } from '../lib/datetime.ts';
import { isActive, listAccess } from '../profile/access.ts';
import { revenueOf, toUsd } from '../profile/object.ts';
import type { GrantState, ProfileState } from '../profile/state.ts';
import { accessLevelUpdated, type WebhookEvent } from '../webhooks/events.ts';

function isGrantActive({ starts_at, expires_at }: GrantState, now: string): boolean {
  const hasBegun = starts_at === null || fromDatabase(starts_at) <= now;
  return hasBegun && (expires_at === null || now < fromDatabase(expires_at));
}

/** `access_level_updated` for a grant as it stands in `state`; it tells of the grant, whatever else gives the level. */
export function grantEvent(state: ProfileState, grant: GrantState, eventId: string): WebhookEvent {
  const now = fromDatabase(state.read_at);
  return accessLevelUpdated(
    {
      access_level_id: grant.access_level_id,
      is_active: isGrantActive(grant, now),
      is_refund: false,
      is_in_grace_period: false,
      will_renew: false,
      activated_at: grant.first_granted_at,
      renewed_at: grant.granted_at,
      starts_at: grant.starts_at,
      expires_at: grant.expires_at,
      store: 'service',
      vendor_product_id: 'server_side_grant',
      transaction_id: grant.grant_id,
      original_transaction_id: grant.grant_id,
      environment: 'Production',
      cancellation_reason: null,
      profile_has_access_level: listAccess(state, now).some((source) => isActive(source, now)),
      profile_total_revenue_usd: toUsd(revenueOf(state, now)),
    },
    { event_id: eventId, at: state.read_at, profile: state },
  );
}
