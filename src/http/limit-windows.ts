// The rate limiter's store. The plugin's own store hands all requests of a caller the same object, which each reads
// only after others have been counted: in a burst that waited for the same key, every request saw the count of the last
// one, and all were refused.
import type { FastifyRateLimitStore } from '@fastify/rate-limit';
import { LRUCache } from 'lru-cache';

const MAX_CALLERS = 50_000;

interface Window {
  beganAt: number;
  count: number;
}

/** A fixed window per caller, which begins with its first request. The least recently seen callers are evicted. */
export class LimitWindows implements FastifyRateLimitStore {
  readonly #windows = new LRUCache<string, Window>({ max: MAX_CALLERS });

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

  /** Gives each limit counts of its own. */
  child(): LimitWindows {
    return new LimitWindows();
  }
}
