// Group commit: while one group is being written the next one gathers, so that the cost of a commit is shared. No timer, no
// acknowledgement before the commit, a bounded queue. Apps take turns, so that a busy one does not delay the others.

import { apiError } from '../errors.ts';
import { isDatabaseUnavailable } from './failures.ts';

const MOST_WAITING = 20_000;
const MOST_PER_GROUP = 200;
/** Groups that are written at once whatever waits: one of them may be waiting for a lock. */
const ALWAYS_WRITING = 2;
/** And so many when FULL items wait: a group of fewer costs more than it gains, as half of its work is the same for any number. */
const MOST_WRITING = 4;
const FULL = 10;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Turns `write`, which writes many items in one commit, into a function that writes one. */
export function createGroupWriter<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): (lane: string, item: Item) => Promise<Result> {
  const lanes = new Map<string, Waiting<Item, Result>[]>();
  let waiting = 0;
  let writing = 0;

  function takeGroup(): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    const fairShare = Math.max(1, Math.floor(MOST_PER_GROUP / lanes.size));
    for (const [lane, queue] of [...lanes]) {
      group.push(...queue.splice(0, Math.min(fairShare, MOST_PER_GROUP - group.length)));
      lanes.delete(lane);
      // Behind the others, so that lanes take turns.
      if (queue.length > 0) lanes.set(lane, queue);
      if (group.length === MOST_PER_GROUP) break;
    }
    waiting -= group.length;
    return group;
  }

  async function settle(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await write(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
    } catch (error) {
      // One bad item must not fail its neighbours: each is tried alone. While the database is away that would only take longer.
      if (group.length > 1 && !isDatabaseUnavailable(error)) for (const one of group) await settle([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  /** Whether a group is to be written beside so many others. */
  function isWorthwhile(others: number): boolean {
    return others < ALWAYS_WRITING ? waiting > 0 : others < MOST_WRITING && waiting >= FULL;
  }

  async function work(): Promise<void> {
    if (!isWorthwhile(writing)) return;
    writing++;
    do await settle(takeGroup());
    while (isWorthwhile(writing - 1));
    writing--;
  }

  return (lane, item) =>
    new Promise((resolve, reject) => {
      if (waiting >= MOST_WAITING) {
        reject(apiError('unavailable'));
        return;
      }
      waiting++;
      const queue = lanes.get(lane);
      if (queue) queue.push({ item, resolve, reject });
      else lanes.set(lane, [{ item, resolve, reject }]);
      if (isWorthwhile(writing)) setImmediate(work);
    });
}
