// The deliveries that this process has claimed, each with the end of its first lease.
import type { Deps } from '../deps.ts';
import { type Claimed, renewLeases } from './queue.ts';

export interface Leases {
  readonly size: number;
  /** Counts the deliveries held, by endpoint. */
  count: () => Map<string, number>;
  hold: (delivery: Claimed, until: Date) => void;
  release: (delivery: Claimed) => void;
  /**
   * Whether the delivery's first lease is far from its end, as it is unless the process stalled. If not, another
   * process may be about to send the delivery and those that follow it.
   */
  isSafe: (delivery: Claimed) => boolean;
  stop: () => void;
}

/** Keeps track of claims whose leases last `leaseMs`, and renews them every third of that. */
export function createLeases({ db, log, now }: Pick<Deps, 'db' | 'log' | 'now'>, leaseMs: number): Leases {
  const held = new Map<Claimed, Date>();
  const renewal = setInterval(renew, leaseMs / 3);

  function renew(): void {
    if (held.size === 0) return;
    const until = new Date(now().getTime() + leaseMs);
    renewLeases(db, [...held.keys()], until).catch((error) => log.warn({ err: error }, 'cannot renew webhook leases'));
  }

  return {
    get size() {
      return held.size;
    },
    count() {
      const counts = new Map<string, number>();
      for (const { webhook_id } of held.keys()) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1);
      return counts;
    },
    hold: (delivery, until) => void held.set(delivery, until),
    release: (delivery) => void held.delete(delivery),
    isSafe: (delivery) => (held.get(delivery) as Date).getTime() - now().getTime() > leaseMs / 3,
    stop: () => clearInterval(renewal),
  };
}
