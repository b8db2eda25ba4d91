// How long background work rests between its batches, so that requests come first.

/** Rests, as multiples of the time worked. */
const REST_WHEN_BUSY = 9;
const REST_WHEN_QUIET = 1;
/** Work that would earn a longer rest was itself held up, and nobody knows how busy the process will be by then. */
const MAX_REST_MS = 60_000;

/** Makes a function that returns the event loop's utilization since the last call. */
function createUtilizationMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/**
 * Makes a function that returns how long to rest after work of the given duration, both in milliseconds: a minute at
 * most. The process counts as busy if the utilization of its event loop since the last call exceeds `busy`.
 */
export function createRest(busy: number): (workedMs: number) => number {
  const utilization = createUtilizationMeter();
  return (workedMs) => Math.min(workedMs * (utilization() > busy ? REST_WHEN_BUSY : REST_WHEN_QUIET), MAX_REST_MS);
}

/**
 * Makes a function that returns whether the process is quiet: whether the utilization of its event loop was at most
 * `busy` over the last complete stretch of `stretchMs`. Until the first stretch is complete, the process does not count
 * as quiet.
 */
export function createQuietCheck({ busy, stretchMs }: { busy: number; stretchMs: number }): () => boolean {
  const utilization = createUtilizationMeter();
  let from = performance.now();
  let isQuiet = false;
  return () => {
    if (performance.now() - from >= stretchMs) {
      isQuiet = utilization() <= busy;
      from = performance.now();
    }
    return isQuiet;
  };
}

/** A step that keeps track of its own rest after each run. */
export interface RestingStep {
  /** Returns the milliseconds of rest left; 0 or less when the step is ready. */
  restsFor: () => number;
  /** Runs the step if it is ready. Returns how much it did. */
  run: () => Promise<number>;
}

/** Makes a resting step. `restAfter` receives the milliseconds that the step took and, unless it failed, its result. */
export function createRestingStep(
  step: () => Promise<number>,
  restAfter: (workedMs: number, done?: number) => number,
): RestingStep {
  let readyAt = 0;
  const restsFor = () => readyAt - performance.now();
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
        readyAt = ended + restAfter(ended - began, done);
      }
    },
  };
}
