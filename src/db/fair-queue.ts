// A bounded queue in lanes, of which each has the same share of what is taken.

const MOST_WAITING = 20_000;
/** Of one lane: another finds room beside it. */
const MOST_WAITING_IN_LANE = 10_000;

export interface FairQueue<T> {
  /** How many wait, in all lanes. */
  size: () => number;
  /** False where there is no room. */
  add: (lane: string, one: T) => boolean;
  /** Takes at most so many, in the order of each lane. What a quiet lane leaves of its share goes to the others. */
  take: (most: number) => T[];
}

export function createFairQueue<T>(): FairQueue<T> {
  const lanes = new Map<string, T[]>();
  let waiting = 0;
  return {
    size: () => waiting,
    add(lane, one) {
      const queue = lanes.get(lane) ?? [];
      if (waiting === MOST_WAITING || queue.length === MOST_WAITING_IN_LANE) return false;
      queue.push(one);
      lanes.set(lane, queue);
      waiting++;
      return true;
    },
    take(most) {
      const taken: T[] = [];
      while (taken.length < most && lanes.size > 0) {
        const share = Math.max(1, Math.floor((most - taken.length) / lanes.size));
        for (const [lane, queue] of [...lanes]) {
          // Lanes that got nothing this time stay in front.
          if (taken.length === most) break;
          taken.push(...queue.splice(0, Math.min(share, most - taken.length)));
          lanes.delete(lane);
          // Behind the others, so that lanes take turns.
          if (queue.length > 0) lanes.set(lane, queue);
        }
      }
      waiting -= taken.length;
      return taken;
    },
  };
}
