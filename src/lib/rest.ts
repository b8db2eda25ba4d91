// How long background work rests between its batches, so that requests come first.

/** Rests as multiples of the time worked. */
const REST_WHEN_BUSY = 9;
const REST_WHEN_QUIET = 1;
/** What took so long that it would rest for more was held up itself, and how busy the process is by then nobody knows. */
const LONGEST_REST_MS = 60_000;

/** Makes a function that says in which share of the time since it was last asked the event loop was at work. */
function watchLoop(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/**
 * Makes a function that says how long to rest, in milliseconds, after so many milliseconds of work: a minute at most. The process counts as busy when its
 * event loop was at work for more than the share `busy` of the time since it was last asked.
 */
export function createRest(busy: number): (workedMs: number) => number {
  const shareAtWork = watchLoop();
  return (workedMs) => Math.min(workedMs * (shareAtWork() > busy ? REST_WHEN_BUSY : REST_WHEN_QUIET), LONGEST_REST_MS);
}

/**
 * Makes a function that says whether the process is quiet: whether its event loop was at work for no more than the share `busy` of the last
 * whole stretch of so many milliseconds. Nobody knows that of a process that has just begun, so the first stretch counts as none.
 */
export function createQuiet({ busy, stretchMs }: { busy: number; stretchMs: number }): () => boolean {
  const shareAtWork = watchLoop();
  let from = performance.now();
  let isQuiet = false;
  return () => {
    if (performance.now() - from >= stretchMs) {
      isQuiet = shareAtWork() <= busy;
      from = performance.now();
    }
    return isQuiet;
  };
}

/** A step that rests by itself after it was run. */
export interface RestingStep {
  /** Milliseconds that it still rests; not above 0 when it is ready. */
  restsFor: () => number;
  /** Runs it if it is ready; how much it did. */
  run: () => Promise<number>;
}

/** `restAfter` is told how long the step took, in milliseconds, and how much it did, unless it failed. */
export function resting(
  step: () => Promise<number>,
  restAfter: (workedMs: number, done?: number) => number,
): RestingStep {
  let from = 0;
  const restsFor = () => from - performance.now();
  return {
    restsFor,
    async run() {
      if (restsFor() > 0) return 0;
      const began = performance.now();
      let done: number | undefined;
      try {
        done = await step();
        return done;
      } finally {
        const ended = performance.now();
        from = ended + restAfter(ended - began, done);
      }
    },
  };
}
