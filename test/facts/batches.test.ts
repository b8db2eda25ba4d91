// Batches of the totals are as large as can be written while a request waits for one of their facts.
import { expect, test } from 'vitest';
import { sizeOfNextBatch } from '../../src/facts/totals.ts';

test.each([
  ['a quick one is followed by one as large as can be', 10_000, { count: 10_000, longestMs: 900 }, 10_000],
  ['a slow one by one that takes two seconds', 10_000, { count: 10_000, longestMs: 5_000 }, 4_000],
  ['a small one that was quick by twice as many, not more', 1_000, { count: 1_000, longestMs: 10 }, 2_000],
  ['one that was not full says nothing of the machine', 1_000, { count: 3, longestMs: 60_000 }, 2_000],
  ['one that failed by half of it, so that it cannot fail for its size again and again', 10_000, undefined, 5_000],
  ['however slow it is, there is a least', 600, { count: 600, longestMs: 60_000 }, 500],
])('%s', (_, size, refreshed, next) => {
  expect(sizeOfNextBatch(size, refreshed)).toBe(next);
});
