import { describe, expect, it } from 'vitest';
import {
  NOTICED_WITHIN_S,
  parseRetryAfter,
  RETRY_WAITS_S,
  retryTable,
  waitAfterFailure,
} from '../../src/webhooks/schedule.ts';

describe('the retry schedule', () => {
  it('waits 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 4 h, 8 h, then the delivery is dead', () => {
    expect(RETRY_WAITS_S).toEqual([5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800]);
    expect([1, 2, 9].map((failures) => waitAfterFailure(failures, 0.5))).toEqual([4.5, 29.5, 28799.5]);
    expect(waitAfterFailure(10, 0.5)).toBeUndefined();
  });

  it('spreads a wait by 20 % to either side, including the time until it is noticed', () => {
    expect(waitAfterFailure(3, 0)).toBeCloseTo(96);
    expect(waitAfterFailure(3, 0.999_999)).toBeCloseTo(143, 2);
    for (const [index, wait] of RETRY_WAITS_S.entries()) {
      expect(waitAfterFailure(index + 1, 0)).toBeCloseTo(wait * 0.8);
      expect(waitAfterFailure(index + 1, 0.999_999)! + NOTICED_WITHIN_S).toBeCloseTo(wait * 1.2, 1);
    }
  });

  it('is lengthened by Retry-After to at most an hour, and never shortened', () => {
    expect(waitAfterFailure(1, 0.5, 60)).toBe(60);
    expect(waitAfterFailure(1, 0.5, 86_400)).toBe(3600);
    expect(waitAfterFailure(7, 0.5, 60)).toBe(7199.5);
    expect(waitAfterFailure(10, 0.5, 60)).toBeUndefined();
  });

  it('reads Retry-After as seconds or as a date', () => {
    const now = new Date('2025-01-15T10:30:00Z');
    for (const header of ['120', '120 \t']) expect(parseRetryAfter(header, now)).toBe(120);
    expect(waitAfterFailure(1, 0, parseRetryAfter('9'.repeat(400), now))).toBe(3600);
    expect(parseRetryAfter('Wed, 15 Jan 2025 10:31:00 GMT', now)).toBe(60);
    expect(parseRetryAfter('Wed, 15 Jan 2025 10:29:00 GMT', now)).toBe(0);
    for (const date of ['2025-01-15T10:31:00Z', 'Wed, 15 Jan 2025 10:31:00 +0000']) {
      expect(parseRetryAfter(date, now), date).toBe(60);
    }
    expect(parseRetryAfter('soon', now)).toBe(0);
  });

  it('prints the table of the README', () => {
    expect(retryTable()).toBe(
      [
        '| attempt | wait before it (±20 %) | time since the first |',
        '|---|---|---|',
        '| 1 | – | 0 s |',
        '| 2 | 5 s | 5 s |',
        '| 3 | 30 s | 35 s |',
        '| 4 | 2 min | 3 min |',
        '| 5 | 10 min | 13 min |',
        '| 6 | 30 min | 43 min |',
        '| 7 | 1 h | 1.7 h |',
        '| 8 | 2 h | 3.7 h |',
        '| 9 | 4 h | 7.7 h |',
        '| 10 | 8 h | 15.7 h |',
      ].join('\n'),
    );
  });
});
