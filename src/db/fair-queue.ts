// A bounded queue divided into lanes, each with the same share of what is taken.

const MAX_WAITING = 20_000;
/** Limit of one lane, so that others still find room. */
const MAX_WAITING_IN_LANE = 10_000;

export interface FairQueue<T> {
  /** Returns how many items wait, in all lanes. */
  size: () => number;
  /** Adds an item to a lane. Returns false if there is no room. */
  add: (lane: string, one: T) => boolean;
  /** Takes up to `max` items, in order within each lane. The unused share of a quiet lane goes to the others. */
  take: (max: number) => T[];
}

export function createFairQueue<T>(): FairQueue<T> {
  const lanes = new Map<string, T[]>();
  let waiting = 0;
  return {
    size: () => waiting,
    add(lane, one) {
      const queue = lanes.get(lane) ?? [];
      if (waiting === MAX_WAITING || queue.length === MAX_WAITING_IN_LANE) return false;
      queue.push(one);
      lanes.set(lane, queue);
      waiting++;
      return true;
    },
    take(max) {
      const taken: T[] = [];
      while (taken.length < max && lanes.size > 0) {
        const share = Math.max(1, Math.floor((max - taken.length) / lanes.size));
        for (const [lane, queue] of [...lanes]) {
          // Lanes that got nothing this time stay in front.
          if (taken.length === max) break;
          taken.push(...queue.splice(0, Math.min(share, max - taken.length)));
          lanes.delete(lane);
          // It moves behind the others, so that lanes take turns.
          if (queue.length > 0) lanes.set(lane, queue);
        }
      }
      waiting -= taken.length;
      return taken;
    },
  };
}
