// Statements about one profile.
import { type Kysely, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import { isUuid, type ProfileIdentity } from './identity.ts';
import type { ProfileState } from './state.ts';

/** The living profile that both given identifiers name. */
function profileNamed(trx: Kysely<DB>, appId: string, { customer_user_id, profile_id }: ProfileIdentity) {
  return (
    trx
      .selectFrom('profile')
      .select('profile_id')
      .where('app_id', '=', appId)
      .where('deleted_at', 'is', null)
      // What is no UUID names nobody; the comparison itself would fail.
      .$if(profile_id !== undefined, (query) =>
        query.where('profile_id', '=', isUuid(profile_id as string) ? (profile_id as string) : null),
      )
      .$if(customer_user_id !== undefined, (query) =>
        query
          .where('profile_id', '=', (eb) =>
            eb
              .selectFrom('profile_identity')
              .select('profile_identity.profile_id')
              .where('profile_identity.app_id', '=', appId)
              .where('profile_identity.customer_user_id', '=', customer_user_id as string),
          )
          // Looked at again once the lock is held: the name may have been taken from the profile meanwhile.
          .where('customer_user_id', '=', customer_user_id as string),
      )
  );
}

type ReadProfile = (trx: Kysely<DB>, appId: string, identity: ProfileIdentity) => Promise<string | undefined>;

/** Finds a profile without locking it: it may be gone or renamed by the time it is locked. */
export const findProfile: ReadProfile = async (trx, appId, identity) =>
  (await profileNamed(trx, appId, identity).executeTakeFirst())?.profile_id;

/** Finds the living profile that both given identifiers name, and locks it; undefined if there is none. */
export const lockProfile: ReadProfile = async (trx, appId, identity) =>
  (await executePrepared(trx, 'lock_profile', profileNamed(trx, appId, identity).forNoKeyUpdate()))[0]?.profile_id;

/** As lockProfile, against those too who only refer to the profile: attributions. */
export const lockProfileToDelete: ReadProfile = async (trx, appId, identity) =>
  (await profileNamed(trx, appId, identity).forUpdate().executeTakeFirst())?.profile_id;

/** Keeps writers out while the profile is read: without that a later state could carry an earlier timestamp. */
export const lockProfileToRead: ReadProfile = async (trx, appId, identity) =>
  (await profileNamed(trx, appId, identity).forShare().executeTakeFirst())?.profile_id;

/** Everything of a profile that its object and its events show, with the database's clock, in one statement. */
export async function readProfileState(trx: Kysely<DB>, appId: string, profileId: string): Promise<ProfileState> {
  const statement = sql<ProfileState>`
    select p.app_id, p.profile_id, p.customer_user_id, p.installed_at, p.country, p.custom_attributes,
      clock_timestamp() as read_at,
      (select to_jsonb(a) from (
         select d.status, r.attribution_user_id, d.channel, d.campaign, d.ad_group, d.ad_set, d.creative, r.recorded_at
         from profile_attribution r join dim_attribution d using (attribution_key)
         where r.app_id = p.app_id and r.profile_id = p.profile_id) a) as attribution,
      (select coalesce(jsonb_agg(to_jsonb(g) order by g.access_level_id), '[]') from (
         select access_level_id, grant_id, starts_at, expires_at, granted_at, first_granted_at
         from access_grant g where g.app_id = p.app_id and g.profile_id = p.profile_id) g) as grants,
      (select coalesce(jsonb_agg(to_jsonb(t) order by t.purchased_at, t.store_transaction_id collate "C"), '[]') from (
         select t.purchase_id, t.purchase_type, t.environment, t.is_family_shared, t.store, t.store_product_id,
           t.store_base_plan_id, t.store_transaction_id, t.store_original_transaction_id, t.purchased_at,
           t.originally_purchased_at, t.expires_at, t.renew_status, t.renew_status_changed_at,
           t.billing_issue_detected_at, t.grace_period_expires_at, t.offer_category, t.offer_type, t.offer_id,
           t.refunded_at, t.cancellation_reason, t.revenue_nano::text, p2.access_level_id,
           coalesce(p2.is_consumable, false) as is_consumable
         from purchase t
         left join product p2 on p2.app_id = t.app_id and p2.store = t.store and p2.store_product_id = t.store_product_id
         where t.app_id = p.app_id and t.profile_id = p.profile_id) t) as purchases
    from profile p
    where p.app_id = ${appId} and p.profile_id = ${profileId}`;
  const [state] = await executePrepared(trx, 'read_profile', statement);
  if (!state) throw new Error('a locked profile is gone');
  return state;
}
