// Group commit: while one group is being written the next one gathers, so that the cost of a commit is shared. Nobody waits for others to
// come, nobody is answered before the commit, and the queue is bounded. Apps take turns, so that a busy one does not delay the others.
// Keys are looked up in the same way: there `write` only reads.
import { apiError } from '../errors.ts';
import { isDatabaseAway, isLockTimeout } from './failures.ts';
import { createFairQueue } from './fair-queue.ts';
import { createHeld, type Patient } from './group-held.ts';
import { answer, type Outcome, outcomeOf, type Queued } from './queued.ts';

const MOST_PER_GROUP = 200;
/** So many cost hardly more than half of them. */
const NEVER_SPLIT = 16;
const MOST_WRITING = 4;
const SLOW_MS = 8;

interface GroupOptions<Item, Result> {
  /** For items that somebody may hold for long. */
  patient?: Patient<Item, Result>;
  /** A group that takes longer waits for a lock or for a distant database, not for a processor: another is written beside it. */
  slowMs?: number;
  /** As soon as so many wait, they are written beside a group. */
  besideFrom?: number;
}

function isAway(outcome: Outcome<unknown>): boolean {
  return 'error' in outcome && isDatabaseAway(outcome.error);
}

/** Makes of `write`, which takes many items at once, a function that takes one: what it is called with meanwhile goes together. */
export function groupCalls<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
  { patient, slowMs = SLOW_MS, besideFrom = Number.POSITIVE_INFINITY }: GroupOptions<Item, Result> = {},
): (lane: string, item: Item) => Promise<Result> {
  const queue = createFairQueue<Queued<Item, Result>>();
  const held = patient && createHeld(patient);
  const writeAlone = patient?.writeIfFree ?? write;
  let writing = 0;
  /** Items of the group before. */
  let lastSize = 0;
  /** Whether the group that was begun last takes long. */
  let isSlow = false;
  let timer: NodeJS.Timeout | undefined;

  /**
   * Clients who wait for their answers come again together. Half of them at a time, so that one half is answered and read while the
   * other is being written; left to itself a large group and a small one would take turns, each with nobody beside it.
   */
  function takeGroup(): Queued<Item, Result>[] {
    const half = Math.ceil((queue.size() + lastSize) / 2);
    const group = queue.take(Math.min(MOST_PER_GROUP, Math.max(NEVER_SPLIT, half)));
    lastSize = group.length;
    return group;
  }

  function tell(group: readonly Queued<Item, Result>[], outcome: Outcome<Result>): void {
    if (held && 'error' in outcome && isLockTimeout(outcome.error)) {
      for (const one of group) held.add(one);
    } else {
      answer(group, outcome);
    }
  }

  /** Puts it beside the groups where what it needs is known to be held; whether it did. */
  function putBeside(one: Queued<Item, Result>): boolean {
    if (!held?.has(one.item)) return false;
    held.add(one);
    return true;
  }

  /** Writes a group; what it gives tells those who were not told before. */
  async function writeGroup(taken: readonly Queued<Item, Result>[]): Promise<() => void> {
    const group = taken.filter((one) => !putBeside(one));
    if (group.length === 0) return () => undefined;
    const together = await outcomeOf(write(group.map(({ item }) => item)));
    if ('results' in together || isAway(together)) return () => tell(group, together);
    if (group.length === 1) {
      // At once: the next group is not to meet the same lock.
      tell(group, together);
      return () => undefined;
    }
    // One bad item must not fail its neighbours: each is tried alone, unless the database goes away, as the rest would only find out later.
    for (const [index, one] of group.entries()) {
      if (putBeside(one)) continue;
      const alone = await outcomeOf(writeAlone([one.item]));
      if (isAway(alone)) return () => tell(group.slice(index), alone);
      tell([one], alone);
    }
    return () => undefined;
  }

  /** What waits meanwhile makes a larger group, of which each costs less. */
  function isWorthwhile(): boolean {
    if (queue.size() === 0) return false;
    return writing === 0 || (isSlow && writing < MOST_WRITING) || (writing === 1 && queue.size() >= besideFrom);
  }

  function noteSlow(): void {
    isSlow = true;
    work();
  }

  async function work(): Promise<void> {
    while (isWorthwhile()) {
      writing++;
      isSlow = false;
      clearTimeout(timer);
      timer = setTimeout(noteSlow, slowMs);
      const tellGroup = await writeGroup(takeGroup());
      writing--;
      // The next group is on its way before these are answered, which takes longer than sending it.
      setImmediate(tellGroup);
    }
  }

  return (lane, item) =>
    new Promise((resolve, reject) => {
      const one = { item, resolve, reject };
      if (putBeside(one)) return;
      if (!queue.add(lane, one)) reject(apiError('unavailable'));
      else if (isWorthwhile()) setImmediate(work);
    });
}
