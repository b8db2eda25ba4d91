// Group commit: while one group is being written, the next one gathers, so its members share the cost of a commit. No
// request waits for others to arrive, none is answered before its commit, and the queue is bounded. Apps take turns, so
// a busy one does not delay the others. Keys are looked up in groups, too; there `write` only reads.
import { apiError } from '../errors.ts';
import { isDatabaseAway, isLockTimeout } from './failures.ts';
import { createFairQueue } from './fair-queue.ts';
import { createHeld, type HeldOptions } from './group-held.ts';
import { answer, type Outcome, outcomeOf, type Queued } from './queued.ts';

const MAX_PER_GROUP = 200;
/** A group of this size is not split: it costs hardly more than half of it would. */
const MAX_UNSPLIT = 16;
const MAX_GROUPS_WRITING = 4;
const SLOW_MS = 8;

interface LockedOptions<Item, Result> extends HeldOptions<Item, Result> {
  /** Writes items, but waits for a lock only briefly before it fails with a lock timeout. */
  writeIfFree: (items: readonly Item[]) => Promise<readonly Result[]>;
}

interface GroupOptions<Item, Result> {
  /** For items whose row may stay locked. */
  whenLocked?: LockedOptions<Item, Result>;
  /** A group that takes longer waits for a lock or a distant database, not for CPU: others are written concurrently. */
  slowMs?: number;
  /** As soon as this many items are queued, they are written concurrently with the running group. */
  secondGroupFrom?: number;
}

function isAway(outcome: Outcome<unknown>): boolean {
  return 'error' in outcome && isDatabaseAway(outcome.error);
}

/**
 * Turns `write`, which takes many items, into a function that takes one. Items that arrive while a group is being
 * written form the next group.
 */
export function groupCalls<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
  { whenLocked, slowMs = SLOW_MS, secondGroupFrom = Number.POSITIVE_INFINITY }: GroupOptions<Item, Result> = {},
): (lane: string, item: Item) => Promise<Result> {
  const queue = createFairQueue<Queued<Item, Result>>();
  const held = whenLocked && createHeld(whenLocked);
  const writeAlone = whenLocked?.writeIfFree ?? write;
  let writing = 0;
  /** Size of the previous group. */
  let lastSize = 0;
  /** Whether the group that was started last is taking long. */
  let isSlow = false;
  let timer: NodeJS.Timeout | undefined;

  /**
   * Takes the next group: about half of the requests in flight. Clients that are answered together send their next
   * requests together, so one half can be answered and read while the other is being written. Without this rule, a
   * large group and a small one would alternate, with nothing to do while either is written.
   */
  function takeGroup(): Queued<Item, Result>[] {
    const half = Math.ceil((queue.size() + lastSize) / 2);
    const group = queue.take(Math.min(MAX_PER_GROUP, Math.max(MAX_UNSPLIT, half)));
    lastSize = group.length;
    return group;
  }

  function settle(group: readonly Queued<Item, Result>[], outcome: Outcome<Result>): void {
    if (held && 'error' in outcome && isLockTimeout(outcome.error)) {
      for (const one of group) held.add(one);
    } else {
      answer(group, outcome);
    }
  }

  /** Diverts the item to the held queue if the row it needs is known to be locked. Returns whether it did. */
  function divertIfHeld(one: Queued<Item, Result>): boolean {
    if (!held?.has(one.item)) return false;
    held.add(one);
    return true;
  }

  /** Writes a group. Returns a function that answers those members that have no answer yet. */
  async function writeGroup(taken: readonly Queued<Item, Result>[]): Promise<() => void> {
    const group = taken.filter((one) => !divertIfHeld(one));
    if (group.length === 0) return () => undefined;
    const together = await outcomeOf(write(group.map(({ item }) => item)));
    if ('results' in together || isAway(together)) return () => settle(group, together);
    if (group.length === 1) {
      // Immediately, so that the next group does not run into the same lock.
      settle(group, together);
      return () => undefined;
    }
    // One bad item must not fail its neighbours, so each is tried alone. If the database goes away, all that are left
    // fail immediately: tried alone, they would only fail later.
    for (const [index, one] of group.entries()) {
      if (divertIfHeld(one)) continue;
      const alone = await outcomeOf(writeAlone([one.item]));
      if (isAway(alone)) return () => settle(group.slice(index), alone);
      settle([one], alone);
    }
    return () => undefined;
  }

  /** Whether to start a group now. Otherwise queued items form a larger group, in which each costs less. */
  function shouldStartGroup(): boolean {
    if (queue.size() === 0) return false;
    return (
      writing === 0 || (isSlow && writing < MAX_GROUPS_WRITING) || (writing === 1 && queue.size() >= secondGroupFrom)
    );
  }

  function markSlow(): void {
    isSlow = true;
    work();
  }

  async function work(): Promise<void> {
    while (shouldStartGroup()) {
      writing++;
      isSlow = false;
      clearTimeout(timer);
      timer = setTimeout(markSlow, slowMs);
      const answerGroup = await writeGroup(takeGroup());
      writing--;
      // The next group is sent before this one is answered, because answering takes longer than sending.
      setImmediate(answerGroup);
    }
  }

  return (lane, item) =>
    new Promise((resolve, reject) => {
      const one = { item, resolve, reject };
      if (divertIfHeld(one)) return;
      if (!queue.add(lane, one)) reject(apiError('unavailable'));
      else if (shouldStartGroup()) setImmediate(work);
    });
}
