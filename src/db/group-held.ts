// The held queue: items that need a row which somebody keeps locked wait beside the groups, by name. They are written
// together once the lock is released, or all refused if that takes longer than the lock timeout.
import { apiError } from '../errors.ts';
import { isLockTimeout } from './failures.ts';
import { answer, outcomeOf, type Queued } from './queued.ts';

const MOST_HELD = 1_000;
const MOST_HELD_OF_NAME = 250;
const MOST_AT_ONCE = 50;

/** How a writer handles rows that may stay locked. Items of the same name need the same row. */
export interface Patient<Item, Result> {
  nameOf: (item: Item) => string;
  /** Writes items, but waits for a lock only briefly before it fails with a lock timeout. */
  writeIfFree: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Writes items of one name and waits for the lock to be released. */
  write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** How many names may be waited for at once. */
  atOnce: number;
}

export interface Held<Item, Result> {
  has: (item: Item) => boolean;
  add: (one: Queued<Item, Result>) => void;
}

export function createHeld<Item, Result>({ nameOf, write, atOnce }: Patient<Item, Result>): Held<Item, Result> {
  const queues = new Map<string, Queued<Item, Result>[]>();
  let waiting = 0;
  /** Names whose lock is being waited for. */
  const awaited = new Set<string>();

  /** Takes up to `most` items from the queue of a name; the rest of that queue moves behind the other names. */
  function take(name: string, most: number): Queued<Item, Result>[] {
    const queue = queues.get(name) ?? [];
    const taken = queue.splice(0, most);
    queues.delete(name);
    if (queue.length > 0) queues.set(name, queue);
    waiting -= taken.length;
    return taken;
  }

  async function writeHeld(name: string): Promise<void> {
    const group = take(name, MOST_AT_ONCE);
    const outcome = await outcomeOf(write(group.map(({ item }) => item)));
    const rest = 'error' in outcome && isLockTimeout(outcome.error) ? take(name, MOST_HELD_OF_NAME) : [];
    answer([...group, ...rest], outcome);
  }

  function work(): void {
    for (const name of [...queues.keys()]) {
      if (awaited.size === atOnce) return;
      if (awaited.has(name)) continue;
      awaited.add(name);
      void writeHeld(name).then(() => {
        awaited.delete(name);
        work();
      });
    }
  }

  return {
    has(item) {
      // Almost always nothing waits, and no name need be made.
      if (awaited.size === 0) return false;
      const name = nameOf(item);
      return awaited.has(name) || queues.has(name);
    },
    add(one) {
      const name = nameOf(one.item);
      const queue = queues.get(name) ?? [];
      if (waiting === MOST_HELD || queue.length === MOST_HELD_OF_NAME) {
        one.reject(apiError('unavailable'));
        return;
      }
      queue.push(one);
      queues.set(name, queue);
      waiting++;
      work();
    },
  };
}
