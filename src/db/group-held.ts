// Items of a group that need what somebody holds for long: they wait beside the groups, by name, and are written together when it is let go of.
import { apiError } from '../errors.ts';

const MOST_HELD = 1_000;
const MOST_AT_ONCE = 50;

export interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** How a writer treats what somebody may hold: who holds one item holds all of the same name. */
export interface Patient<Item, Result> {
  nameOf: (item: Item) => string;
  /** Waits for a lock hardly at all: then it fails with a lock time-out. */
  writeIfFree: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Writes items of one name, and waits until it is let go of. */
  write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** So many names are waited for at once. */
  atOnce: number;
}

export interface Held<Item, Result> {
  has: (item: Item) => boolean;
  add: (one: Waiting<Item, Result>) => void;
}

/** Tells each of a group how it went. */
async function settleTogether<Item, Result>(
  group: readonly Waiting<Item, Result>[],
  results: Promise<readonly Result[]>,
): Promise<void> {
  try {
    const all = await results;
    for (const [index, { resolve }] of group.entries()) resolve(all[index] as Result);
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

export function createHeld<Item, Result>({ nameOf, write, atOnce }: Patient<Item, Result>): Held<Item, Result> {
  const queues = new Map<string, Waiting<Item, Result>[]>();
  let waiting = 0;
  /** Names that are being waited for. */
  const awaited = new Set<string>();

  function work(): void {
    for (const [name, queue] of queues) {
      if (awaited.size === atOnce) return;
      if (awaited.has(name)) continue;
      const group = queue.splice(0, MOST_AT_ONCE);
      if (queue.length === 0) queues.delete(name);
      waiting -= group.length;
      awaited.add(name);
      void settleTogether(group, write(group.map(({ item }) => item))).then(() => {
        awaited.delete(name);
        work();
      });
    }
  }

  return {
    has(item) {
      // Nearly always.
      if (awaited.size === 0) return false;
      const name = nameOf(item);
      return awaited.has(name) || queues.has(name);
    },
    add(one) {
      if (waiting === MOST_HELD) {
        one.reject(apiError('unavailable'));
        return;
      }
      const name = nameOf(one.item);
      const queue = queues.get(name) ?? [];
      queue.push(one);
      queues.set(name, queue);
      waiting++;
      work();
    },
  };
}
