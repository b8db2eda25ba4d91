// How long to wait before what failed is tried again: twice as long each time, up to a limit, until it succeeds.

export interface Backoff {
  /** How long to wait this time, in milliseconds. */
  next: () => number;
  /** It succeeded. */
  reset: () => void;
}

export function createBackoff(firstMs: number, longestMs: number): Backoff {
  let waitMs = firstMs;
  return {
    next() {
      const current = waitMs;
      waitMs = Math.min(waitMs * 2, longestMs);
      return current;
    },
    reset() {
      waitMs = firstMs;
    },
  };
}
