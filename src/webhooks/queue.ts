// The queue: claiming due deliveries, renewing and releasing claims, settling results. One function, one statement.
//
// Order per profile and endpoint: a delivery is claimed only if none with a smaller sequence is pending for the same
// endpoint and profile. Otherwise it is put off: its due_at is moved, so that claims do not look at it again and again
// while it waits behind a failing delivery. When a delivery finishes, its successor becomes due, unless the successor
// waits to be retried itself. If putting off and finishing run at the same moment and miss each other, the successor is
// due when its due_at passes.
//
// Statements find claimed rows by key and claim alone. A condition on the state would let the planner read the whole
// backlog through a partial index, which it takes for empty until the table is analyzed (seen: 290 ms instead of 3 for
// 100 rows). Keys are also passed as an array: an index can serve it on either side of a join, so that no plan reads
// more than the batch.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { SecretColumns } from './secrets.ts';

export interface ClaimLimits {
  /** Deliveries in all and per endpoint. An endpoint that failed `ailingAfter` times in a row gets `ailingSlots`. */
  total: number;
  perEndpoint: number;
  ailingAfter: number;
  ailingSlots: number;
}

export interface ClaimRequest extends ClaimLimits {
  now: Date;
  leaseUntil: Date;
  claimId: string;
  /** How many deliveries this process holds, per endpoint. */
  held: ReadonlyMap<string, number>;
  /** How many more than `perEndpoint` it may hold, per endpoint that is not failing. */
  ahead: ReadonlyMap<string, number>;
  /** How many rows to look at per endpoint beyond its slots; used when many deliveries must be put off. */
  extraRows: number;
}

export interface Claimed extends SecretColumns {
  sequence: bigint;
  webhook_id: string;
  claim_id: string;
  app_id: string;
  event_id: string;
  body: string;
  attempts: number;
  url: string;
  /** Whether the endpoint's last attempt failed. */
  is_ailing: boolean;
}

/** A delivery that was looked at; `claim_id` and `body` are null if it was put off. */
type Taken = Omit<Claimed, 'claim_id' | 'body'> & { claim_id: string | null; body: string | null };

/** When a delivery put off behind one that is being sent becomes due again. */
export const PUT_OFF_BEHIND_RUNNING_MS = 250;
const PUT_OFF_BEHIND_WAITING = '30 seconds';

/**
 * Claims due deliveries, first for the endpoints of which this process holds fewest. Otherwise slow endpoints, once
 * they hold all slots, would hold up new events for others. Also returns how many deliveries were put off.
 */
export async function claimDue(db: Kysely<DB>, request: ClaimRequest): Promise<{ claimed: Claimed[]; putOff: number }> {
  const { now, leaseUntil, claimId, held, ahead, extraRows, total, perEndpoint, ailingAfter, ailingSlots } = request;
  const numberOf = (counts: ReadonlyMap<string, number>) =>
    sql`coalesce((${JSON.stringify(Object.fromEntries(counts))}::jsonb ->> webhook_id::text)::int, 0)`;
  const statement = sql<Taken>`
    with room as materialized (
      select webhook_id, held,
        case when failed_attempts >= ${ailingAfter}::int then ${ailingSlots}::int else ${perEndpoint}::int + ${numberOf(ahead)} end
          - held as slots
      from webhook cross join lateral (select ${numberOf(held)} as held) of_this_process
      where state = 'enabled'
    ), due as materialized (
      select d.*, held, slots from room cross join lateral (
        select sequence, webhook_id, profile_id, due_at from webhook_delivery
        where webhook_id = room.webhook_id and state = 'pending' and due_at <= ${now}
        order by due_at, sequence
        limit greatest(slots, 0) + ${extraRows}::int
        for update skip locked
      ) d
      where slots > 0
    ), judged as (
      select due.*, put_off_until,
        row_number() over (partition by webhook_id, put_off_until is null order by due_at, sequence) as place
      from due left join lateral (
        select case when claim_id is not null then ${now}::timestamptz + ${`${PUT_OFF_BEHIND_RUNNING_MS} milliseconds`}::interval
          else greatest(earlier.due_at, ${now}::timestamptz + ${PUT_OFF_BEHIND_WAITING}::interval) end as put_off_until
        from webhook_delivery earlier
        where earlier.webhook_id = due.webhook_id and earlier.profile_id = due.profile_id and earlier.state = 'pending'
          and earlier.sequence < due.sequence
        order by earlier.sequence desc limit 1
      ) nearest on true
    ), chosen as (
      (select * from judged where put_off_until is null and place <= slots order by held + place, sequence limit ${total})
      union all
      select * from judged where put_off_until is not null
    )
    update webhook_delivery d set
      claim_id = case when put_off_until is null then ${claimId}::uuid end,
      due_at = coalesce(put_off_until, ${leaseUntil})
    from chosen join webhook w using (webhook_id) cross join lateral (
      select app_id, event_id, payload from webhook_event where sequence = chosen.sequence offset 0
    ) e
    where d.sequence = any(array(select sequence from chosen))
      and d.sequence = chosen.sequence and d.webhook_id = chosen.webhook_id
    returning d.sequence, d.webhook_id, d.claim_id, d.attempts, e.app_id, e.event_id,
      case when put_off_until is null then e.payload::text end as body,
      w.url, w.secret, w.previous_secret, w.previous_secret_until, w.authorization_value,
      w.first_failure_at is not null as is_ailing`;
  const rows = await executePrepared(db, 'claim_due', statement);
  const claimed = rows.filter((row): row is Claimed => row.claim_id !== null);
  return { claimed, putOff: rows.length - claimed.length };
}

/** Identifies a claimed delivery. */
export interface ClaimKey {
  sequence: bigint;
  webhook_id: string;
  claim_id: string;
}

/** Returns a string that is equal for equal keys. */
export function claimName({ sequence, webhook_id, claim_id }: ClaimKey): string {
  return `${sequence} ${webhook_id} ${claim_id}`;
}

function claimRelation(claims: readonly ClaimKey[]): RawBuilder<unknown> {
  return sql`(select * from unnest(
    ${claims.map(({ sequence }) => sequence)}::bigint[],
    ${claims.map(({ webhook_id }) => webhook_id)}::uuid[],
    ${claims.map(({ claim_id }) => claim_id)}::uuid[]
  ) as t (sequence, webhook_id, claim_id))`;
}

/** Extends the leases of the claims that this process still holds. */
export async function renewLeases(db: Kysely<DB>, claims: readonly ClaimKey[], leaseUntil: Date): Promise<void> {
  // Skips rows that are being settled: two statements that each lock many rows would deadlock now and then.
  await sql`
    with mine as (
      select d.sequence, d.webhook_id
      from webhook_delivery d join ${claimRelation(claims)} held using (sequence, webhook_id, claim_id)
      for update of d skip locked
    )
    update webhook_delivery d set due_at = ${leaseUntil}
    from mine where d.sequence = mine.sequence and d.webhook_id = mine.webhook_id`.execute(db);
}

/** Releases a claim without an attempt; the delivery is due again at `until`. */
export async function releaseClaimUntil(
  db: Kysely<DB>,
  { sequence, webhook_id, claim_id }: ClaimKey,
  { until, error }: { until: Date; error: string },
): Promise<void> {
  await sql`
    update webhook_delivery set claim_id = null, due_at = ${until}, last_error = ${error}
    where sequence = ${sequence} and webhook_id = ${webhook_id} and claim_id = ${claim_id}`.execute(db);
}

/**
 * Releases claims whose deliveries were not sent. These become due 10 s in the past, as new deliveries are, and so keep
 * their place in the queue.
 */
export async function releaseClaims(db: Kysely<DB>, claims: readonly ClaimKey[], now: Date): Promise<void> {
  const statement = sql`
    update webhook_delivery d set claim_id = null, due_at = least(d.queued_at, ${now}) - interval '10 seconds'
    from ${claimRelation(claims)} held
    where d.sequence = any(${claims.map(({ sequence }) => sequence)})
      and d.sequence = held.sequence and d.webhook_id = held.webhook_id and d.claim_id = held.claim_id`;
  await executePrepared(db, 'release_claims', statement);
}

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/**
 * The earliest time of the next attempt at delivery `d` of endpoint `w`: not before the first pending delivery of the
 * same endpoint and profile, which may itself be in flight. Null if there will be no attempt, or none while the
 * endpoint is suspended or disabled. That first delivery is found by its place in the ordering index, since any other
 * condition may read the backlog (see above).
 */
export const NEXT_ATTEMPT = sql`case when d.state = 'pending' and w.state = 'enabled' then greatest(d.queued_at, (
  select case when first.claim_id is null or first.sequence = d.sequence then first.due_at end from webhook_delivery first
  where first.state = 'pending' and (first.webhook_id, first.profile_id, first.sequence) >= (d.webhook_id, d.profile_id, 0)
  order by first.webhook_id, first.profile_id, first.sequence limit 1)) end`;

export interface Settlement extends ClaimKey {
  state: DeliveryState;
  /** The time of the next attempt; null unless `state` is pending. */
  due_at: Date | null;
  attempted_at: Date;
  status: number | null;
  error: string | null;
  response: string | null;
}

/** The endpoint was removed during the attempt, and the attempt failed: the delivery is not retried. */
const IS_ENDED = sql`(d.state = 'dead' and r.state <> 'delivered')`;

/**
 * Records the results of attempts whose claims still hold, and returns their keys. Makes the successors of finished
 * deliveries due, except a successor that waits to be retried itself, as may follow a replayed delivery.
 */
export async function settle(db: Kysely<DB>, settlements: readonly Settlement[], now: Date): Promise<ClaimKey[]> {
  const column = <K extends keyof Settlement>(name: K) => settlements.map((one) => one[name]);
  const statement = sql<ClaimKey>`
    with result as (
      select * from unnest(
        ${column('sequence')}::bigint[], ${column('webhook_id')}::uuid[], ${column('claim_id')}::uuid[],
        ${column('state')}::text[], ${column('due_at')}::timestamptz[], ${column('attempted_at')}::timestamptz[],
        ${column('status')}::int[], ${column('error')}::text[], ${column('response')}::text[]
      ) as r (sequence, webhook_id, claim_id, state, due_at, attempted_at, status, error, response)
    ), settled as (
      update webhook_delivery d set
        state = case when ${IS_ENDED} then d.state else r.state end,
        due_at = coalesce(r.due_at, d.due_at),
        claim_id = null,
        attempts = d.attempts + 1,
        attempted_at = r.attempted_at,
        finished_at = case when ${IS_ENDED} then d.finished_at when r.state <> 'pending' then ${now}::timestamptz end,
        last_status = r.status,
        last_error = case when ${IS_ENDED} then d.last_error else r.error end,
        last_response = case when not d.forgets_response then r.response end
      from result r
      where d.sequence = any(${column('sequence')})
        and d.sequence = r.sequence and d.webhook_id = r.webhook_id and d.claim_id = r.claim_id
      returning d.sequence, d.webhook_id, r.claim_id, d.profile_id, d.state
    ), successor as (
      select next.* from settled s cross join lateral (
        select later.sequence, later.webhook_id from webhook_delivery later
        where later.webhook_id = s.webhook_id and later.profile_id = s.profile_id and later.state = 'pending'
          and later.sequence > s.sequence
        order by later.sequence limit 1
      ) next
      where s.state <> 'pending'
    ), freed as (
      update webhook_delivery d set due_at = ${now}
      from successor s
      where d.sequence = any(array(select sequence from successor))
        and d.sequence = s.sequence and d.webhook_id = s.webhook_id and d.claim_id is null and d.attempts = 0
    )
    select sequence, webhook_id, claim_id from settled`;
  return executePrepared(db, 'settle', statement);
}
