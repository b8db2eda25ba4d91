// The queue: taking deliveries that are due, keeping them, and settling them. One function, one statement.
//
// Order per profile and endpoint: a delivery is taken only if none with a smaller sequence is pending for the same endpoint and
// profile. One that must wait is put off (its due_at is moved), so that a long wait behind a failing one is not looked at again and
// again; whatever finishes makes its successor due, but for one that waits after an attempt of its own. Should that be missed (both
// statements at the same moment), due_at comes.
//
// What is claimed is pending, so rows are met by key and claim alone: a condition on the state would let the planner read the whole
// backlog by a partial index, which it takes for empty until the table is analyzed (seen: 290 ms instead of 3 for 100 rows). The
// keys are also given as an array: an index serves that on either side of a join, so that no plan reads more than the batch.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { SecretColumns } from './secrets.ts';

export interface ClaimLimits {
  /** Deliveries in all, and per endpoint; an endpoint that has failed `ailingAfter` times running gets `ailingSlots`. */
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
  /** How many more than `perEndpoint` it may hold of those that do not fail, per endpoint. */
  ahead: ReadonlyMap<string, number>;
  /** How many rows more than there are slots to look at per endpoint, where many must be put off. */
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

/** A delivery that was looked at; nulls where it was put off. */
type Taken = Omit<Claimed, 'claim_id' | 'body'> & { claim_id: string | null; body: string | null };

/** After so long one that was put off behind a delivery under way is due again. */
export const PUT_OFF_BEHIND_RUNNING_MS = 250;
const PUT_OFF_BEHIND_WAITING = '30 seconds';

/**
 * Takes what is due, first of the endpoints of which this process holds fewest: else those that are slow would keep a new event from another
 * once they hold all there is. Also says how many had to be put off.
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

/** What names a claimed delivery. */
export interface ClaimKey {
  sequence: bigint;
  webhook_id: string;
  claim_id: string;
}

/** The same for two keys of one claim. */
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

/** Prolongs the lease of what this process still holds. */
export async function renewLeases(db: Kysely<DB>, claims: readonly ClaimKey[], leaseUntil: Date): Promise<void> {
  // Rows that are just being settled are skipped: two statements that lock many rows would deadlock now and then.
  await sql`
    with mine as (
      select d.sequence, d.webhook_id
      from webhook_delivery d join ${claimRelation(claims)} held using (sequence, webhook_id, claim_id)
      for update of d skip locked
    )
    update webhook_delivery d set due_at = ${leaseUntil}
    from mine where d.sequence = mine.sequence and d.webhook_id = mine.webhook_id`.execute(db);
}

/** Gives a claim back without an attempt having been made. */
export async function releaseClaimUntil(
  db: Kysely<DB>,
  { sequence, webhook_id, claim_id }: ClaimKey,
  { until, error }: { until: Date; error: string },
): Promise<void> {
  await sql`
    update webhook_delivery set claim_id = null, due_at = ${until}, last_error = ${error}
    where sequence = ${sequence} and webhook_id = ${webhook_id} and claim_id = ${claim_id}`.execute(db);
}

/** Gives claims back under which nothing was sent; they keep their place in the queue, which is that of new ones: due a little early. */
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
 * When the delivery `d` of the endpoint `w` is tried next, at the earliest: not before the first that waits for the same endpoint and
 * profile, which may be under way. Null if it is not to be, or not while its endpoint stands still. The first is found by its place in the
 * index of the order: any other condition may read the backlog (see above).
 */
export const NEXT_ATTEMPT = sql`case when d.state = 'pending' and w.state = 'enabled' then greatest(d.queued_at, (
  select case when first.claim_id is null or first.sequence = d.sequence then first.due_at end from webhook_delivery first
  where first.state = 'pending' and (first.webhook_id, first.profile_id, first.sequence) >= (d.webhook_id, d.profile_id, 0)
  order by first.webhook_id, first.profile_id, first.sequence limit 1)) end`;

export interface Settlement extends ClaimKey {
  state: DeliveryState;
  /** The next attempt, of a pending one. */
  due_at: Date | null;
  attempted_at: Date;
  status: number | null;
  error: string | null;
  answer: string | null;
}

/** Its endpoint was removed while it was being sent, without success: it is not tried again. */
const IS_ENDED = sql`(d.state = 'dead' and r.state <> 'delivered')`;

/**
 * Records the results of attempts, from those who still hold the claim, and makes the successors of what finished due; of a replayed one, not those
 * that wait after an attempt of their own.
 */
export async function settle(db: Kysely<DB>, settlements: readonly Settlement[], now: Date): Promise<ClaimKey[]> {
  const column = <K extends keyof Settlement>(name: K) => settlements.map((one) => one[name]);
  const statement = sql<ClaimKey>`
    with result as (
      select * from unnest(
        ${column('sequence')}::bigint[], ${column('webhook_id')}::uuid[], ${column('claim_id')}::uuid[],
        ${column('state')}::text[], ${column('due_at')}::timestamptz[], ${column('attempted_at')}::timestamptz[],
        ${column('status')}::int[], ${column('error')}::text[], ${column('answer')}::text[]
      ) as r (sequence, webhook_id, claim_id, state, due_at, attempted_at, status, error, answer)
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
        last_answer = case when not d.forgets_answer then r.answer end
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
