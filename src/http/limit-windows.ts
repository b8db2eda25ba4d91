// Where the rate limiter counts. Not its own store, which gives all requests of a caller one object to read, later than it was counted: of
// a burst that waited for the same key every request saw the last one's number, and all were refused.
import type { FastifyRateLimitStore } from '@fastify/rate-limit';

const MOST_CALLERS = 50_000;

interface Window {
  beganAt: number;
  count: number;
}

/** A fixed window per caller, which begins with its first request; the callers seen last are remembered. */
export class LimitWindows implements FastifyRateLimitStore {
  readonly #windows = new Map<string, Window>();

  incr(caller: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], windowMs: number): void {
    const now = performance.now();
    const known = this.#windows.get(caller);
    const window = known && now < known.beganAt + windowMs ? known : { beganAt: now, count: 0 };
    window.count++;
    this.#windows.delete(caller);
    this.#windows.set(caller, window);
    if (this.#windows.size > MOST_CALLERS) this.#forgetOldest();
    callback(null, { current: window.count, ttl: window.beganAt + windowMs - now });
  }

  #forgetOldest(): void {
    const oldest = this.#windows.keys().next();
    if (!oldest.done) this.#windows.delete(oldest.value);
  }

  /** Each limit counts for itself. */
  child(): LimitWindows {
    return new LimitWindows();
  }
}
