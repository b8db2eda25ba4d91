// Puts off deliveries whose secrets this process cannot open, without counting an attempt, until somebody gives it the
// key. Another process on the same database may have the key.
import type { Deps } from '../deps.ts';
import { type Claimed, releaseClaimUntil } from './queue.ts';

const PUT_OFF_MS = 60_000;
const LOG_EVERY_MS = 60_000;

/** Resolves when the claim has been released, or could not be; then its lease expires by itself. */
export type Postpone = (delivery: Claimed, reason: string) => Promise<void>;

export function createPostponer({ db, log, now }: Pick<Deps, 'db' | 'log' | 'now'>): Postpone {
  /** When this was last logged, by endpoint. */
  const loggedAt = new Map<string, number>();

  function logOccasionally({ webhook_id, app_id }: Claimed, reason: string): void {
    if (now().getTime() - (loggedAt.get(webhook_id) ?? 0) < LOG_EVERY_MS) return;
    loggedAt.set(webhook_id, now().getTime());
    log.error({ webhook_id, app_id, reason }, 'cannot decrypt webhook secrets; nothing is sent to this endpoint');
  }

  return async (delivery, reason) => {
    logOccasionally(delivery, reason);
    const until = new Date(now().getTime() + PUT_OFF_MS);
    await releaseClaimUntil(db, delivery, { until, error: `its secrets are ${reason}` }).catch((err) =>
      log.warn({ err }, 'cannot release a webhook claim'),
    );
  };
}
