// Caches answers in memory for when the same request comes again. An entry is valid while the version of the app's
// facts is unchanged (any process that changes facts raises it), and until the next moment at which the passage of time
// alone would change the answer.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { App } from '../deps.ts';
import { canonicalText } from '../lib/canonical-text.ts';
import type { ChartRequest } from './request.ts';

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_ENTRY_BYTES = 8 * 1024 * 1024;
/** The memory that an entry takes in addition to its body. */
const ENTRY_OVERHEAD_BYTES = 500;

export interface CachedAnswer {
  /** The body of the answer: JSON, as the bytes that are sent. */
  body: Buffer;
  version: string;
  /** Instants in microseconds: the one for which it was computed, and the one from which it may differ. */
  from: number;
  until: number;
}

/**
 * Hashes the request as it was sent: the app, the zone header and the body. The lookup comes before validation, since
 * only valid requests were ever answered. One more member makes a different key even if it is null: an unknown name is
 * refused whatever its value.
 */
export function requestKey({ app_id }: App, { zoneHeader, body }: ChartRequest): string {
  const request = [app_id, zoneHeader?.value ?? null, body];
  return hash('sha256', canonicalText(request, { nullIsNone: false }), 'base64');
}

/** Returns the last microsecond of the request's millisecond; nothing later exists for the request. */
function lastMicro(now: Date): number {
  return now.getTime() * 1000 + 999;
}

export function createAnswerCache() {
  const kept = new LRUCache<string, CachedAnswer>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_ENTRY_BYTES,
    sizeCalculation: ({ body }) => body.length + ENTRY_OVERHEAD_BYTES,
  });
  return {
    keep: (key: string, answer: CachedAnswer): void => {
      kept.set(key, answer);
    },
    /**
     * Returns an answer that still holds at `now`, and was not computed for a later time before the clock was set back.
     * The caller must still compare its version.
     */
    find: (key: string, now: Date): CachedAnswer | undefined => {
      const answer = kept.get(key);
      const at = lastMicro(now);
      return answer && at >= answer.from && at < answer.until ? answer : undefined;
    },
  };
}
