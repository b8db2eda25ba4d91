// Reads profiles with everything that their objects and events show, in one statement, by the database's clock.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { ProfileKey, ProfileState } from './state.ts';

/**
 * Matches purchases that the object shows at this moment or later: of each product the last one and the one that ended
 * last (it shows when access ended), and all that were not over. Most purchases of a profile are none of these.
 */
const isShownSince = (moment: RawBuilder<unknown>) => sql`purchase_type = 'one_time_purchase' or expires_at is null
  or greatest(expires_at, grace_period_expires_at, refunded_at) > ${moment}
  or purchased_at = max(purchased_at) over of_product
  or least(expires_at, refunded_at) = max(least(expires_at, refunded_at)) over of_product`;

const IS_SHOWN = isShownSince(sql`statement_timestamp()`);

// Products are looked up one by one, and only for purchases that are kept: a join would hash all products of the app
// for every profile. Rows become json rather than jsonb, which would parse again what has just been written, and not by
// json_build_object, which looks up the types of all its arguments each time. The order of attribution's members
// affects segment_hash.
function stateStatement(keys: readonly ProfileKey[], isKept: RawBuilder<unknown>) {
  return sql<ProfileState>`
    select p.app_id, p.profile_id, p.customer_user_id, p.installed_at, p.country, p.custom_attributes,
      statement_timestamp() as read_at,
      (select row_to_json(a) from (
         select d.ad_set, d.source, d.status, d.channel, d.ad_group, d.campaign, d.creative, r.recorded_at,
           r.attribution_user_id
         from profile_attribution r join dim_attribution d using (attribution_key)
         where r.app_id = p.app_id and r.profile_id = p.profile_id) a) as attribution,
      (select coalesce(json_agg(row_to_json(g) order by g.access_level_id), '[]') from (
         select access_level_id, grant_id, starts_at, expires_at, granted_at, first_granted_at
         from access_grant g where g.app_id = p.app_id and g.profile_id = p.profile_id) g) as grants,
      bought.purchases, bought.past_revenue_nano
    from unnest(
      ${keys.map(({ app_id }) => app_id)}::uuid[], ${keys.map(({ profile_id }) => profile_id)}::uuid[]
    ) with ordinality as named (app_id, profile_id, place)
    join profile p using (app_id, profile_id)
    cross join lateral (
      select
        coalesce(sum(t.revenue_nano) filter (
          where not is_kept and environment = 'Production' and not is_family_shared and refunded_at is null), 0)::text
          as past_revenue_nano,
        coalesce(json_agg((
          select row_to_json(shown) from (
            select t.purchase_id, t.purchase_type, t.environment, t.is_family_shared, t.store, t.store_product_id,
              t.store_base_plan_id, t.store_transaction_id, t.store_original_transaction_id, t.purchased_at,
              t.originally_purchased_at, t.expires_at, t.renew_status, t.renew_status_changed_at,
              t.billing_issue_detected_at, t.grace_period_expires_at, t.offer_category, t.offer_type, t.offer_id,
              t.refunded_at, t.cancellation_reason, t.revenue_nano::text, product.access_level_id,
              coalesce(product.is_consumable, false) as is_consumable
            from (select) one left join product on product.app_id = t.app_id and product.store = t.store
              and product.store_product_id = t.store_product_id
          ) shown
        ) order by t.purchased_at, t.store_transaction_id collate "C", t.store collate "C",
          t.store_original_transaction_id collate "C") filter (where is_kept), '[]') as purchases
      from (
        select app_id, purchase_id, purchase_type, environment, is_family_shared, store, store_product_id,
          store_base_plan_id, store_transaction_id, store_original_transaction_id, purchased_at, originally_purchased_at,
          expires_at, renew_status, renew_status_changed_at, billing_issue_detected_at, grace_period_expires_at,
          offer_category, offer_type, offer_id, refunded_at, cancellation_reason, revenue_nano, ${isKept} as is_kept
        from purchase where app_id = p.app_id and profile_id = p.profile_id
        window of_product as (partition by purchase_type, store, store_product_id)
      ) t
    ) bought
    order by place`;
}

async function readStates(
  trx: Kysely<DB>,
  keys: readonly ProfileKey[],
  isKept: RawBuilder<unknown>,
): Promise<ProfileState[]> {
  const states = await executePrepared(trx, 'read_profiles', stateStatement(keys, isKept));
  if (states.length !== keys.length) throw new Error('a locked profile is gone');
  return states;
}

/** Reads locked profiles as they are shown from now on, without the purchases that are not shown. */
export function readShownStates(trx: Kysely<DB>, keys: readonly ProfileKey[]): Promise<ProfileState[]> {
  return readStates(trx, keys, IS_SHOWN);
}

export async function readShownState(trx: Kysely<DB>, key: ProfileKey): Promise<ProfileState> {
  const [state] = await readShownStates(trx, [key]);
  return state as ProfileState;
}

/**
 * Likewise, but also reads what was shown just before an earlier moment (in the database's format) and since, so that
 * the object of that time can be rendered, too.
 */
export async function readShownSince(trx: Kysely<DB>, key: ProfileKey, moment: string): Promise<ProfileState> {
  const [state] = await readStates(trx, [key], isShownSince(sql`${moment}::timestamptz - interval '1 microsecond'`));
  return state as ProfileState;
}
