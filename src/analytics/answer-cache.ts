// Answers kept in memory for when the same question is asked again. One is valid while the version of the app's facts stands,
// which every change of them raises, in whatever process, and until the next moment at which time alone would change it.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { App } from '../deps.ts';
import { canonicalText } from '../lib/canonical-text.ts';
import type { ChartRequest } from './request.ts';

const MOST_BYTES = 32 * 1024 * 1024;
const MOST_BYTES_OF_ONE = 8 * 1024 * 1024;
/** What an entry takes beside its text. */
const ENTRY_BYTES = 500;

export interface CachedAnswer {
  /** The body of the answer: JSON, as the bytes that are sent. */
  body: Buffer;
  version: string;
  /** Instants in microseconds: for which it was computed, and from which it may be another. */
  from: number;
  until: number;
}

/**
 * The question as asked: of whom, in which zone, with which body. It is looked up before it is validated, as what was answered is valid. One more
 * member makes it another question, even if it is null: a name that does not exist is refused whatever it holds.
 */
export function questionKey({ app_id }: App, { zoneHeader, body }: ChartRequest): string {
  const question = [app_id, zoneHeader?.value ?? null, body];
  return createHash('sha256')
    .update(canonicalText(question, { nullIsNone: false }))
    .digest('base64');
}

/** Nothing later than the last microsecond of a question's millisecond exists. */
function lastMicro(now: Date): number {
  return now.getTime() * 1000 + 999;
}

export function createAnswerCache() {
  const kept = new LRUCache<string, CachedAnswer>({
    maxSize: MOST_BYTES,
    maxEntrySize: MOST_BYTES_OF_ONE,
    sizeCalculation: ({ body }) => body.length + ENTRY_BYTES,
  });
  return {
    keep: (key: string, answer: CachedAnswer): void => {
      kept.set(key, answer);
    },
    /** An answer that time has not overtaken, nor that of a clock that was set back; whether its version stands is still to be asked. */
    find: (key: string, now: Date): CachedAnswer | undefined => {
      const answer = kept.get(key);
      const at = lastMicro(now);
      return answer && at >= answer.from && at < answer.until ? answer : undefined;
    },
  };
}
