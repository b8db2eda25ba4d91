// Lists deliveries with their results, and replays them.
import { sql } from 'kysely';
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
  last_answer: string | null;
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
      d.last_status, d.last_error, d.last_answer, e.created_at, d.attempted_at,
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

function selectionOf(replay: Replay) {
  if ('webhookId' in replay) {
    const since = parseDatetime(replay.since);
    if (since === undefined) throw new OperatorError(`${replay.since} is not a datetime such as 2025-01-15T10:30:00Z.`);
    return sql`d.webhook_id = ${replay.webhookId} and d.state = 'dead' and e.created_at >= ${since}`;
  }
  const [, sequence, webhookId] = DELIVERY_ID.exec(replay.deliveryId) ?? [];
  if (!sequence) throw new OperatorError(`There is no delivery ${replay.deliveryId}; see \`sps webhook deliveries\`.`);
  return sql`d.sequence = ${sequence}::bigint and d.webhook_id = ${webhookId} and d.state <> 'pending'`;
}

/**
 * Puts deliveries back in the queue with the whole retry schedule ahead of them: either an endpoint's dead ones whose
 * events were created since a datetime, or a single dead or delivered one. Deliveries of a profile go out in the order
 * of their events.
 */
export async function replayDeliveries({ db, now }: Pick<Deps, 'db' | 'now'>, replay: Replay) {
  if ('webhookId' in replay) await getWebhook({ db }, replay.webhookId);
  const { numAffectedRows } = await sql`
    update webhook_delivery d set
      state = 'pending', due_at = ${now()}, queued_at = ${now()}, claim_id = null, attempts = 0, finished_at = null
    from webhook_event e join webhook w using (app_id)
    where e.sequence = d.sequence and w.webhook_id = d.webhook_id and ${selectionOf(replay)}`.execute(db);
  const replayed = Number(numAffectedRows);
  if (replayed === 0 && 'deliveryId' in replay) {
    throw new OperatorError(
      `There is no delivery ${replay.deliveryId} that is dead or delivered; see \`sps webhook deliveries\`.`,
    );
  }
  return { replayed };
}
