// Exponential backoff: the wait before a retry doubles each time, up to a limit, until an attempt succeeds.

export interface Backoff {
  /** Returns how long to wait this time, in milliseconds. */
  next: () => number;
  /** Starts over, after a success. */
  reset: () => void;
}

export function createBackoff(firstMs: number, maxMs: number): Backoff {
  let waitMs = firstMs;
  return {
    next() {
      const current = waitMs;
      waitMs = Math.min(waitMs * 2, maxMs);
      return current;
    },
    reset() {
      waitMs = firstMs;
    },
  };
}
