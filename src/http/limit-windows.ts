// Where the rate limiter counts. Not its own store, which gives all requests of a caller one object to read, later than it was counted: of
// a burst that waited for the same key every request saw the last one's number, and all were refused.
import type { FastifyRateLimitStore } from '@fastify/rate-limit';
import { LRUCache } from 'lru-cache';

const MOST_CALLERS = 50_000;

interface Window {
  beganAt: number;
  count: number;
}

/** A fixed window per caller, which begins with its first request; the callers seen last are remembered. */
export class LimitWindows implements FastifyRateLimitStore {
  readonly #windows = new LRUCache<string, Window>({ max: MOST_CALLERS });

  incr(caller: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], windowMs: number): void {
    const now = performance.now();
    let window = this.#windows.get(caller);
    if (!window || now >= window.beganAt + windowMs) {
      window = { beganAt: now, count: 0 };
      this.#windows.set(caller, window);
    }
    window.count++;
    callback(null, { current: window.count, ttl: window.beganAt + windowMs - now });
  }

  /** Each limit counts for itself. */
  child(): LimitWindows {
    return new LimitWindows();
  }
}
