// Exports everything that is stored about one person, for a data access request. All of it is read from one snapshot,
// so it shows one moment, and a few rows at a time, because a profile may have more events than one PostgreSQL value
// can hold. Columns have the names of the data model. Computed data is left out: amounts in 10⁻⁹ USD, facts and totals
// of charts, the lapse watch.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { readByCursor } from '../db/cursor.ts';
import type { DB } from '../db/types.ts';
import { isUuid } from '../lib/uuid.ts';
import { OperatorError } from '../operator-error.ts';
import type { ProfileIdentity } from './identity.ts';

/** Receives the members in turn: the profile, then lists, a few rows at a time. Datetimes are ISO 8601 in UTC. */
export type TakeMember = (name: string, value: object | AsyncIterable<object[]>) => Promise<void>;

const ROWS_AT_ONCE = 100;

const LEFT_OUT = sql`'{app_id,profile_id,purchase_no,revenue_nano,proceeds_nano,net_nano,place}'::text[]`;

const DELIVERIES = sql`(
  select coalesce(jsonb_agg(to_jsonb(d) order by d.webhook_id), '[]') from (
    select webhook_id, state, attempts, attempted_at, last_status, last_error, last_response from webhook_delivery where sequence = e.sequence) d)`;

/** Queries for the rows of each list, ordered by `place`; `owned` is the condition that they belong to the profile. */
const LISTS: Readonly<Record<string, (owned: RawBuilder<unknown>) => RawBuilder<unknown>>> = {
  /** The current record first, then up to ten that it superseded. */
  attributions: (owned) => sql`
    select d.status, d.channel, d.campaign, d.ad_group, d.ad_set, d.creative, d.source, s.attribution_user_id, s.recorded_at, s.place
    from profile_attribution a
    cross join lateral unnest(
      a.attribution_key || a.superseded_keys, a.attribution_user_id || a.superseded_user_ids, a.recorded_at || a.superseded_at
    ) with ordinality as s (attribution_key, attribution_user_id, recorded_at, place)
    join dim_attribution d on d.attribution_key = s.attribution_key
    where ${owned}`,
  access_grants: (owned) => sql`select *, access_level_id as place from access_grant where ${owned}`,
  transactions: (owned) => sql`select *, purchase_no as place from purchase where ${owned}`,
  /** Events as they were sent to receivers, with the outcome of each delivery. */
  events: (owned) => sql`
    select event_id, event_type, created_at, payload, sequence as place, ${DELIVERIES} as deliveries from webhook_event e where ${owned}`,
  /** Responses kept for repeated requests. */
  kept_responses: (owned) => sql`
    select operation, idempotency_key, kept_at, response, kept_at as place from kept_response where ${owned}`,
};

async function* readList(trx: Kysely<DB>, rows: RawBuilder<unknown>): AsyncGenerator<object[]> {
  const query = sql<{ row: object }>`select to_jsonb(r) - ${LEFT_OUT} as row from (${rows}) r order by r.place`;
  for await (const page of readByCursor(trx, query, ROWS_AT_ONCE)) yield page.map(({ row }) => row);
}

/** Exports a profile of the app; a deleted one can be named by its id. Throws an OperatorError if there is none. */
export function exportProfile(
  db: Kysely<DB>,
  { app_id, customer_user_id, profile_id }: ProfileIdentity & { app_id: string },
  take: TakeMember,
): Promise<void> {
  const named =
    customer_user_id === null
      ? sql`${profile_id !== null && isUuid(profile_id) ? profile_id : null}::uuid`
      : sql`(select profile_id from profile_identity where app_id = ${app_id} and customer_user_id = ${customer_user_id})`;
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (trx) => {
    // The reader of the output, `less` for example, may pause for a long time; and the cursors are read to the end.
    await sql`select set_config('idle_in_transaction_session_timeout', '0', true), set_config('cursor_tuple_fraction', '1', true)`.execute(
      trx,
    );
    const { rows } = await sql<{ profile_id: string; profile: object }>`
      select profile_id, to_jsonb(p) - 'app_id' as profile from profile p where app_id = ${app_id} and profile_id = ${named}`.execute(
      trx,
    );
    const [found] = rows;
    if (!found) throw new OperatorError('The app has no such profile.');
    await take('profile', found.profile);
    const owned = sql`app_id = ${app_id} and profile_id = ${found.profile_id}`;
    for (const [name, rowsOf] of Object.entries(LISTS)) await take(name, readList(trx, rowsOf(owned)));
  });
}
