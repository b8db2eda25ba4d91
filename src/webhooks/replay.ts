// Lists deliveries with their results, and replays them.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { parseDatetime, toWire } from '../lib/datetime.ts';
import { UUID_FORM } from '../lib/uuid.ts';
import { OperatorError } from '../operator-error.ts';
import { getWebhook } from './endpoints.ts';
import { type DeliveryState, NEXT_ATTEMPT } from './queue.ts';

interface DeliveryRow {
  delivery_id: string;
  event_id: string;
  event_type: string;
  profile_id: string;
  state: DeliveryState;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  last_response: string | null;
  created_at: string;
  attempted_at: string | null;
  next_attempt_at: string | null;
}

export const DEFAULT_LISTED = 50;

/** Lists the deliveries of an endpoint, newest first. */
export async function listDeliveries(
  deps: Pick<Deps, 'db'>,
  webhookId: string,
  { state, limit = DEFAULT_LISTED }: { state?: DeliveryState; limit?: number } = {},
): Promise<DeliveryRow[]> {
  const { webhook_id } = await getWebhook(deps, webhookId);
  const { rows } = await sql<DeliveryRow>`
    select d.sequence || '-' || d.webhook_id as delivery_id, e.event_id, e.event_type, d.profile_id, d.state, d.attempts,
      d.last_status, d.last_error, d.last_response, e.created_at, d.attempted_at,
      ${NEXT_ATTEMPT} as next_attempt_at
    from webhook_delivery d join webhook_event e using (sequence) join webhook w using (webhook_id)
    where d.webhook_id = ${webhook_id} and (${state ?? null}::text is null or d.state = ${state ?? null})
    order by d.sequence desc limit ${limit}`.execute(deps.db);
  return rows.map((row) => ({
    ...row,
    created_at: toWire(row.created_at),
    attempted_at: toWire(row.attempted_at),
    next_attempt_at: toWire(row.next_attempt_at),
  }));
}

export type Replay = { webhookId: string; since: string } | { deliveryId: string };

const DELIVERY_ID = new RegExp(`^(\\d{1,18})-(${UUID_FORM})$`);
/** Dead deliveries that are put back by one statement. */
const PER_STATEMENT = 10_000;

/** What is set of a delivery that is put back in the queue, with the whole retry schedule ahead of it. */
function queuedAgain(at: Date) {
  return sql`state = 'pending', due_at = ${at}, queued_at = ${at}, claim_id = null, attempts = 0, finished_at = null`;
}

interface Part {
  replayed: number;
  /** The sequence after which the next part begins; null at the end. */
  next: string | null;
}

/** Puts back the first dead deliveries of the events after sequence `after`. */
async function replayPart(
  db: Kysely<DB>,
  { webhookId, since, after, at }: { webhookId: string; since: string; after: string; at: Date },
): Promise<Part> {
  const { rows } = await sql<Part>`
    with dead as (
      select d.sequence from webhook_delivery d join webhook_event e using (sequence)
      where d.webhook_id = ${webhookId} and d.state = 'dead' and d.sequence > ${after}::bigint and e.created_at >= ${since}
      order by d.sequence limit ${PER_STATEMENT} for update of d
    ), queued as (
      update webhook_delivery d set ${queuedAgain(at)} from dead
      where d.sequence = dead.sequence and d.webhook_id = ${webhookId}
      returning d.sequence
    )
    select count(*)::integer as replayed, max(sequence)::text as next from queued`.execute(db);
  return rows[0] as Part;
}

/** Replays an endpoint's dead deliveries in the order of their events. If interrupted, the next call continues. */
async function replaySince(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  webhookId: string,
  datetime: string,
): Promise<number> {
  await getWebhook({ db }, webhookId);
  const since = parseDatetime(datetime);
  if (since === undefined) throw new OperatorError(`${datetime} is not a datetime such as 2025-01-15T10:30:00Z.`);
  const at = now();
  let replayed = 0;
  let after: string | null = '0';
  while (after !== null) {
    const from: string = after;
    const part = await inTransaction(db, (trx) => replayPart(trx, { webhookId, since, after: from, at }));
    replayed += part.replayed;
    after = part.next;
  }
  return replayed;
}

async function replayOne({ db, now }: Pick<Deps, 'db' | 'now'>, deliveryId: string): Promise<void> {
  const [, sequence, webhookId] = DELIVERY_ID.exec(deliveryId) ?? [];
  if (!sequence) throw new OperatorError(`There is no delivery ${deliveryId}; see \`sps webhook deliveries\`.`);
  const { numAffectedRows } = await sql`
    update webhook_delivery d set ${queuedAgain(now())} from webhook w
    where d.sequence = ${sequence}::bigint and d.webhook_id = ${webhookId} and d.state <> 'pending'
      and w.webhook_id = d.webhook_id`.execute(db);
  if (numAffectedRows === 0n)
    throw new OperatorError(
      `There is no delivery ${deliveryId} that is dead or delivered; see \`sps webhook deliveries\`.`,
    );
}

/**
 * Puts deliveries back in the queue with the whole retry schedule ahead of them: either an endpoint's dead ones whose
 * events were created since a datetime, or a single dead or delivered one. Deliveries of a profile go out in the order
 * of their events.
 */
export async function replayDeliveries(deps: Pick<Deps, 'db' | 'now'>, replay: Replay): Promise<{ replayed: number }> {
  if ('webhookId' in replay) return { replayed: await replaySince(deps, replay.webhookId, replay.since) };
  await replayOne(deps, replay.deliveryId);
  return { replayed: 1 };
}
