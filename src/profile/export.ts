// Everything that is stored of one person, for whoever answers their request to know. By one statement, and so as of one moment. Columns are
// named as the data model names them. Left out is what was computed: amounts in 10⁻⁹ USD, facts and totals of charts, the watch over lapses.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import { isUuid } from '../lib/uuid.ts';
import { OperatorError } from '../operator-error.ts';
import type { ProfileIdentity } from './identity.ts';

/** Members are named after columns; datetimes are ISO 8601 in UTC. */
export interface ProfileExport {
  profile: object;
  /** The present record first, then up to ten that it superseded. */
  attributions: object[];
  access_grants: object[];
  transactions: object[];
  /** As receivers were told, with what came of it at each. */
  events: object[];
  /** Answers that are kept for a repeated request. */
  kept_answers: object[];
}

const LEFT_OUT = sql`'{app_id,profile_id,purchase_no,revenue_nano,proceeds_nano,net_nano,place}'::text[]`;

/** The rows of a subquery as a list, in the order of what it gives as `place`. */
function listOf(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select coalesce(jsonb_agg(to_jsonb(r) - ${LEFT_OUT} order by r.place), '[]') from (${rows}) r)`;
}

/** The rows of a table that are the profile's. */
function rowsOf(table: string, place: string): RawBuilder<unknown> {
  return listOf(sql`select t.*, ${sql.ref(`t.${place}`)} as place from ${sql.table(table)} t
    where t.app_id = p.app_id and t.profile_id = p.profile_id`);
}

const ATTRIBUTIONS = listOf(sql`
  select d.status, d.channel, d.campaign, d.ad_group, d.ad_set, d.creative, d.source, s.attribution_user_id, s.recorded_at, s.place
  from profile_attribution a
  cross join lateral unnest(
    a.attribution_key || a.superseded_keys, a.attribution_user_id || a.superseded_user_ids, a.recorded_at || a.superseded_at
  ) with ordinality as s (attribution_key, attribution_user_id, recorded_at, place)
  join dim_attribution d on d.attribution_key = s.attribution_key
  where a.app_id = p.app_id and a.profile_id = p.profile_id`);

const DELIVERIES = listOf(sql`
  select webhook_id, state, attempts, attempted_at, last_status, last_error, last_answer, webhook_id as place
  from webhook_delivery where sequence = e.sequence`);

const EVENTS = listOf(sql`
  select e.event_id, e.event_type, e.created_at, e.payload, e.sequence as place, ${DELIVERIES} as deliveries
  from webhook_event e where e.app_id = p.app_id and e.profile_id = p.profile_id`);

const KEPT_ANSWERS = listOf(sql`
  select operation, idempotency_key, kept_at, answer, kept_at as place
  from kept_answer where app_id = p.app_id and profile_id = p.profile_id`);

/** Of a profile of the app, also of a deleted one by its id. Throws an OperatorError where there is none. */
export async function exportProfile(
  db: Kysely<DB>,
  appId: string,
  { customer_user_id, profile_id }: ProfileIdentity,
): Promise<ProfileExport> {
  const named =
    customer_user_id === null
      ? sql`${profile_id !== null && isUuid(profile_id) ? profile_id : null}::uuid`
      : sql`(select profile_id from profile_identity where app_id = ${appId} and customer_user_id = ${customer_user_id})`;
  const { rows } = await sql<ProfileExport>`
    select to_jsonb(p) - 'app_id' as profile, ${ATTRIBUTIONS} as attributions,
      ${rowsOf('access_grant', 'access_level_id')} as access_grants, ${rowsOf('purchase', 'purchase_no')} as transactions,
      ${EVENTS} as events, ${KEPT_ANSWERS} as kept_answers
    from profile p where p.app_id = ${appId} and p.profile_id = ${named}`.execute(db);
  if (!rows[0]) throw new OperatorError('The app has no such profile.');
  return rows[0];
}
