// Claims from the queue as a dispatcher does; the test decides what becomes of the claim.
import { randomUUID } from 'node:crypto';
import { type ClaimRequest, claimDue } from '../../src/webhooks/queue.ts';
import type { World } from './world.ts';

/** Claims with the lease of a dispatcher, for a process that holds nothing yet. */
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
