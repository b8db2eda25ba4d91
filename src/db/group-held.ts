// The held queue: items that need a row which somebody keeps locked wait outside the groups, by the key of that row.
// They are written together once the lock is released, or all refused if that takes longer than the lock timeout.
import { apiError } from '../errors.ts';
import { isLockTimeout } from './failures.ts';
import { answer, outcomeOf, type Queued } from './queued.ts';

const MAX_HELD = 1_000;
const MAX_HELD_PER_KEY = 250;
const MAX_PER_WRITE = 50;

/** How items are written whose rows stay locked. Items with the same key need the same row. */
export interface HeldOptions<Item, Result> {
  lockKeyOf: (item: Item) => string;
  /** Writes items with one key and waits for the lock to be released. */
  write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** How many locks may be waited for at the same time. */
  maxConcurrent: number;
}

export interface Held<Item, Result> {
  has: (item: Item) => boolean;
  add: (one: Queued<Item, Result>) => void;
}

export function createHeld<Item, Result>({
  lockKeyOf,
  write,
  maxConcurrent,
}: HeldOptions<Item, Result>): Held<Item, Result> {
  const queues = new Map<string, Queued<Item, Result>[]>();
  let waiting = 0;
  /** Keys of the locks that are being waited for. */
  const inFlight = new Set<string>();

  /** Takes up to `max` items from the queue of a key; the rest of that queue moves behind the others. */
  function take(key: string, max: number): Queued<Item, Result>[] {
    const queue = queues.get(key) ?? [];
    const taken = queue.splice(0, max);
    queues.delete(key);
    if (queue.length > 0) queues.set(key, queue);
    waiting -= taken.length;
    return taken;
  }

  async function writeHeld(key: string): Promise<void> {
    const group = take(key, MAX_PER_WRITE);
    const outcome = await outcomeOf(write(group.map(({ item }) => item)));
    const rest = 'error' in outcome && isLockTimeout(outcome.error) ? take(key, MAX_HELD_PER_KEY) : [];
    answer([...group, ...rest], outcome);
  }

  function work(): void {
    for (const key of [...queues.keys()]) {
      if (inFlight.size === maxConcurrent) return;
      if (inFlight.has(key)) continue;
      inFlight.add(key);
      void writeHeld(key).then(() => {
        inFlight.delete(key);
        work();
      });
    }
  }

  return {
    has(item) {
      // Almost always nothing waits, and no key need be computed.
      if (inFlight.size === 0) return false;
      const key = lockKeyOf(item);
      return inFlight.has(key) || queues.has(key);
    },
    add(one) {
      const key = lockKeyOf(one.item);
      const queue = queues.get(key) ?? [];
      if (waiting === MAX_HELD || queue.length === MAX_HELD_PER_KEY) {
        one.reject(apiError('unavailable'));
        return;
      }
      queue.push(one);
      queues.set(key, queue);
      waiting++;
      work();
    },
  };
}
