// Decides what an attempt means for its delivery (decisions.md 7): delivered, retried later, or dead. Pure.
import type { Attempt } from './delivery.ts';
import type { Claimed, Settlement } from './queue.ts';
import { waitAfterFailure } from './schedule.ts';

export function isDelivered({ status, error }: Attempt): boolean {
  return error === null && status !== null && status >= 200 && status < 300;
}

/** Turns an attempt into a settlement. `at` is when the attempt ended; `random` lies in [0, 1). */
export function settlementOf(
  delivery: Claimed,
  attempt: Attempt,
  { at, random }: { at: Date; random: number },
): Settlement {
  const succeeded = isDelivered(attempt);
  const waitS = waitAfterFailure(delivery.attempts + 1, random, attempt.retryAfterS);
  const isPending = !succeeded && waitS !== undefined;
  return {
    sequence: delivery.sequence,
    webhook_id: delivery.webhook_id,
    claim_id: delivery.claim_id,
    state: succeeded ? 'delivered' : isPending ? 'pending' : 'dead',
    due_at: isPending ? new Date(at.getTime() + waitS * 1000) : null,
    attempted_at: at,
    status: attempt.status,
    error: attempt.error,
    response: attempt.response,
  };
}
