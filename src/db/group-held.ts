// Items of a group that need what somebody holds for long: they wait beside the groups, by name, and are written together when it is let go
// of. Where that takes longer than a lock is waited for, all that wait for it are refused.
import { apiError } from '../errors.ts';
import { isLockTimeout } from './failures.ts';
import { answer, outcomeOf, type Queued } from './queued.ts';

const MOST_HELD = 1_000;
const MOST_HELD_OF_NAME = 250;
const MOST_AT_ONCE = 50;

/** How a writer treats what somebody may hold: who holds one item holds all of the same name. */
export interface Patient<Item, Result> {
  nameOf: (item: Item) => string;
  /** Waits for a lock hardly at all: then it fails with a lock time-out. */
  writeIfFree: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Writes items of one name, and waits for it to be let go of. */
  write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** So many names are waited for at once. */
  atOnce: number;
}

export interface Held<Item, Result> {
  has: (item: Item) => boolean;
  add: (one: Queued<Item, Result>) => void;
}

export function createHeld<Item, Result>({ nameOf, write, atOnce }: Patient<Item, Result>): Held<Item, Result> {
  const queues = new Map<string, Queued<Item, Result>[]>();
  let waiting = 0;
  /** Names that are being waited for. */
  const awaited = new Set<string>();

  /** Takes of the queue of a name; the rest goes behind the other names. */
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
      // Nearly always nobody waits: no name need be made.
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
