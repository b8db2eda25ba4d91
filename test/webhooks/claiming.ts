// A claim of the queue, as a dispatcher makes it, that leaves it to the test what becomes of it.
import { randomUUID } from 'node:crypto';
import { type ClaimRequest, claimDue } from '../../src/webhooks/queue.ts';
import type { World } from './world.ts';

/** With the lease of a dispatcher, for a process that holds nothing yet. */
export function claimIn({ service: { deps } }: World, changes: Partial<ClaimRequest> = {}) {
  const now = deps.now();
  const leaseUntil = new Date(now.getTime() + 30_000);
  const limits = { total: 100, perEndpoint: 16, ailingAfter: 5, ailingSlots: 2 };
  return claimDue(deps.db, {
    ...limits,
    now,
    leaseUntil,
    claimId: randomUUID(),
    held: new Map(),
    ahead: new Map(),
    extraRows: 64,
    ...changes,
  });
}
