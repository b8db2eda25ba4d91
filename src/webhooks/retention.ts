// Deletes events older than EVENT_RETENTION_DAYS, in small batches. Deliveries that have waited as long become dead
// first. Also deletes previous secrets that no longer sign.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { DAY_MS } from '../lib/datetime.ts';
import { type Loop, startLoop } from '../lib/loop.ts';
import { deleteExpiredSecrets } from './endpoint-queries.ts';

const INTERVAL_MS = 10 * 60_000;
const BATCH = 1_000;
/** How long a dead delivery is kept, so that somebody can see it and replay it. */
const KEPT_AFTER_DEATH = '7 days';

interface Batch {
  /** The sequence after which the next batch begins; null at the end. */
  next: string | null;
  died: number;
  pruned: number;
}

/**
 * Sweeps one batch of the oldest events after sequence `after`. Sequences grow with time, so the walk ends at the first
 * batch without an old event. Pending deliveries of removed endpoints die of age like any others.
 */
async function sweepBatch(db: Kysely<DB>, after: string, { cutoff, now }: { cutoff: Date; now: Date }): Promise<Batch> {
  const { rows } = await sql<Batch>`
    with batch as materialized (
      select sequence, created_at from webhook_event where sequence > ${after}::bigint order by sequence limit ${BATCH}
    ), old as materialized (
      select sequence from batch where created_at < ${cutoff}
    ), died as (
      update webhook_delivery d set state = 'dead', claim_id = null, finished_at = ${now}, last_error = 'not delivered within the retention period'
      from old where d.sequence = old.sequence and d.state = 'pending' and d.queued_at < ${cutoff}
        -- A delivery that is being sent is spared: its response decides, and its successors wait for that.
        and (d.claim_id is null or d.due_at <= ${now})
      returning d.sequence, d.webhook_id, d.profile_id
    ), freed as (
      -- The successor becomes due now, as after an attempt. One that is too old is skipped: it dies, too, in a later
      -- batch or in this statement, which can change a row only once.
      update webhook_delivery d set due_at = ${now}
      from died cross join lateral (
        select later.sequence from webhook_delivery later
        where later.webhook_id = died.webhook_id and later.profile_id = died.profile_id and later.state = 'pending'
          and later.sequence > died.sequence and later.queued_at >= ${cutoff}
        order by later.sequence limit 1
      ) next
      where d.sequence = next.sequence and d.webhook_id = died.webhook_id and d.claim_id is null and d.attempts = 0
    ), ended as materialized (
      -- Locking rereads each row as it is once the lock is held: a delivery that is being replayed is not included.
      select d.sequence, d.webhook_id from old join webhook_delivery d using (sequence)
      where d.state = 'delivered'
        or (d.state = 'dead' and (d.finished_at > ${now}::timestamptz - ${KEPT_AFTER_DEATH}::interval) is not true)
      for update of d
    ), pruned as (
      delete from webhook_event e using old
      where e.sequence = old.sequence and not exists (
        select from webhook_delivery d where d.sequence = old.sequence
          and (d.sequence, d.webhook_id) not in (select sequence, webhook_id from ended))
      returning e.sequence
    ), pruned_delivery as (
      delete from webhook_delivery d using pruned where d.sequence = pruned.sequence
    )
    select
      case when (select count(*) from old) > 0 then (select max(sequence)::text from batch) end as next,
      (select count(*)::integer from died) as died,
      (select count(*)::integer from pruned) as pruned`.execute(db);
  const [batch] = rows;
  if (!batch) throw new Error('a count gave no row');
  return batch;
}

/** Sweeps all old events once, and ends early if `isStopped` returns true. */
export async function sweepEvents(
  { db, config, log, now }: Pick<Deps, 'db' | 'config' | 'log' | 'now'>,
  isStopped: () => boolean = () => false,
): Promise<{ died: number; pruned: number }> {
  const at = now();
  const cutoff = new Date(at.getTime() - config.EVENT_RETENTION_DAYS * DAY_MS);
  const total = { died: 0, pruned: 0 };
  let after: string | null = '0';
  while (after !== null && !isStopped()) {
    const batch: Batch = await sweepBatch(db, after, { cutoff, now: at });
    total.died += batch.died;
    total.pruned += batch.pruned;
    after = batch.next;
  }
  if (total.died > 0)
    log.warn({ deliveries: total.died }, 'webhook deliveries exceeded the retention period and are dead');
  if (total.pruned > 0) log.info({ events: total.pruned }, 'old webhook events pruned');
  return total;
}

/** Sweeps every ten minutes until stopped. Several processes may do so at the same time. */
export function startRetention(deps: Pick<Deps, 'db' | 'config' | 'log' | 'now'>): Loop {
  return startLoop({
    log: deps.log,
    name: 'event retention',
    async run(isStopped) {
      await deleteExpiredSecrets(deps.db, deps.now());
      await sweepEvents(deps, isStopped);
      return INTERVAL_MS;
    },
  });
}
