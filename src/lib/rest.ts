// How long background work rests between its batches, so that requests come first.
import { performance } from 'node:perf_hooks';

/** Share of its time for which the event loop may be at work before the process counts as busy. */
const BUSY = 0.4;
/** Rests as multiples of the time worked. */
const REST_WHEN_BUSY = 9;
const REST_WHEN_QUIET = 1;

/** Makes a function that says how long to rest, in milliseconds, after so many milliseconds of work. */
export function createRest(): (workedMs: number) => number {
  let last = performance.eventLoopUtilization();
  return (workedMs) => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return workedMs * (utilization > BUSY ? REST_WHEN_BUSY : REST_WHEN_QUIET);
  };
}
