// Group commit: while one group is being written the next one gathers, so that the cost of a commit is shared. Nobody waits
// for others to come, no acknowledgement before the commit, a bounded queue. Apps take turns, so that a busy one does not delay the others.
import { apiError } from '../errors.ts';
import { isDatabaseAway, isLockTimeout, LockHeldError } from './failures.ts';

const MOST_WAITING = 20_000;
/** Of one lane: another finds room beside it. */
const MOST_WAITING_IN_LANE = 10_000;
const MOST_PER_GROUP = 200;
/** So many cost hardly more than half of them. */
const NEVER_SPLIT = 16;
const MOST_WRITING = 4;
/** A group that takes longer waits for a lock or for a distant database, not for a processor: another is written beside it. */
const SLOW_MS = 8;
/** Items that wait for what somebody holds, and how many are written together when it is let go of. */
const MOST_HELD = 1_000;
const MOST_HELD_AT_ONCE = 50;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

type Outcome<Result> = { results: readonly Result[] } | { error: unknown };

const HELD = { error: new LockHeldError() };

/** For items that need what somebody may hold for long, and who holds one holds all of the same name. */
export interface Patient<Item, Result> {
  nameOf: (item: Item) => string;
  /** Waits for a lock hardly at all; undefined where it would have to. */
  attempt: (item: Item) => Promise<Result | undefined>;
  /** Writes items of one name, and waits until it is let go of. */
  write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** So many names are waited for at once, beside the groups. */
  atOnce: number;
}

/** Turns `write`, which writes many items in one commit, into a function that writes one. */
export function createGroupWriter<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
  patient?: Patient<Item, Result>,
): (lane: string, item: Item) => Promise<Result> {
  const lanes = new Map<string, Waiting<Item, Result>[]>();
  let waiting = 0;
  let writing = 0;
  /** Items of the group before. */
  let lastSize = 0;
  /** Whether the group that was begun last takes long. */
  let isSlow = false;
  let timer: NodeJS.Timeout | undefined;
  /** By name, what waits beside the groups. */
  const held = new Map<string, Waiting<Item, Result>[]>();
  let heldCount = 0;
  /** Names that are being waited for. */
  const awaited = new Set<string>();

  /**
   * Clients who wait for their answers come again together. Half of them at a time, so that one half is answered and read while the
   * other is being written; left to itself a large group and a small one would take turns, each with nobody beside it.
   */
  function sizeOfNext(): number {
    return Math.min(MOST_PER_GROUP, Math.max(NEVER_SPLIT, Math.ceil((waiting + lastSize) / 2)));
  }

  /** The same share of every lane; what the quiet ones leave of theirs goes to the others. */
  function takeGroup(): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    const most = sizeOfNext();
    while (group.length < most && lanes.size > 0) {
      const share = Math.max(1, Math.floor((most - group.length) / lanes.size));
      for (const [lane, queue] of [...lanes]) {
        group.push(...queue.splice(0, Math.min(share, most - group.length)));
        lanes.delete(lane);
        // Behind the others, so that lanes take turns.
        if (queue.length > 0) lanes.set(lane, queue);
      }
    }
    waiting -= group.length;
    lastSize = group.length;
    return group;
  }

  async function attempt(group: readonly Waiting<Item, Result>[]): Promise<Outcome<Result>> {
    try {
      return { results: await write(group.map(({ item }) => item)) };
    } catch (error) {
      return { error };
    }
  }

  /** Whether it is held is found out in a moment, or known already. */
  async function attemptAlone(one: Waiting<Item, Result>): Promise<Outcome<Result>> {
    if (!patient) return attempt([one]);
    if (isHeld(one.item, patient)) return HELD;
    try {
      const result = await patient.attempt(one.item);
      return result === undefined ? HELD : { results: [result] };
    } catch (error) {
      return { error };
    }
  }

  function tell(group: readonly Waiting<Item, Result>[], outcome: Outcome<Result>): void {
    if ('results' in outcome) {
      for (const [index, { resolve }] of group.entries()) resolve(outcome.results[index] as Result);
    } else if (patient && isLockTimeout(outcome.error)) {
      for (const one of group) waitBeside(one, patient);
    } else {
      for (const { reject } of group) reject(outcome.error);
    }
  }

  /** Writes a group; what it gives tells those who were not told before. */
  async function settle(group: readonly Waiting<Item, Result>[]): Promise<() => void> {
    const together = await attempt(group);
    const isOver = (outcome: Outcome<Result>) => 'error' in outcome && isDatabaseAway(outcome.error);
    if ('results' in together || group.length === 1 || isOver(together)) return () => tell(group, together);
    // One bad item must not fail its neighbours: each is tried alone, unless the database goes away, as the rest would only find out later.
    for (const [index, one] of group.entries()) {
      const alone = await attemptAlone(one);
      if (isOver(alone)) return () => tell(group.slice(index), alone);
      tell([one], alone);
    }
    return () => undefined;
  }

  function isHeld(item: Item, { nameOf }: Patient<Item, Result>): boolean {
    // Nearly always.
    if (awaited.size === 0) return false;
    const name = nameOf(item);
    return held.has(name) || awaited.has(name);
  }

  function waitBeside(one: Waiting<Item, Result>, patience: Patient<Item, Result>): void {
    if (heldCount === MOST_HELD) {
      one.reject(apiError('unavailable'));
      return;
    }
    const name = patience.nameOf(one.item);
    const queue = held.get(name) ?? [];
    queue.push(one);
    held.set(name, queue);
    heldCount++;
    workBeside(patience);
  }

  function workBeside(patience: Patient<Item, Result>): void {
    for (const [name, queue] of held) {
      if (awaited.size === patience.atOnce) return;
      if (awaited.has(name)) continue;
      const group = queue.splice(0, MOST_HELD_AT_ONCE);
      if (queue.length === 0) held.delete(name);
      heldCount -= group.length;
      awaited.add(name);
      void writeBeside(group, patience).finally(() => {
        awaited.delete(name);
        workBeside(patience);
      });
    }
  }

  async function writeBeside(group: readonly Waiting<Item, Result>[], patience: Patient<Item, Result>): Promise<void> {
    try {
      const results = await patience.write(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** What waits meanwhile makes a larger group, of which each costs less. */
  function isWorthwhile(): boolean {
    return waiting > 0 && (writing === 0 || (isSlow && writing < MOST_WRITING));
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
      timer = setTimeout(noteSlow, SLOW_MS);
      const tellGroup = await settle(takeGroup());
      writing--;
      // The next group is on its way before these are answered, which takes longer than sending it.
      setImmediate(tellGroup);
    }
  }

  return (lane, item) =>
    new Promise((resolve, reject) => {
      if (patient && isHeld(item, patient)) {
        waitBeside({ item, resolve, reject }, patient);
        return;
      }
      const queue = lanes.get(lane) ?? [];
      if (waiting >= MOST_WAITING || queue.length >= MOST_WAITING_IN_LANE) {
        reject(apiError('unavailable'));
        return;
      }
      waiting++;
      queue.push({ item, resolve, reject });
      lanes.set(lane, queue);
      if (isWorthwhile()) setImmediate(work);
    });
}
