// Batches of the totals are as large as can be written while a request waits for one of their facts.
import { expect, test } from 'vitest';
import { nextBatchSize } from '../../src/facts/totals.ts';

test.each([
  ['a quick batch is followed by one of the largest size', 10_000, { count: 10_000, slowestMs: 900 }, 10_000],
  ['a slow batch is followed by one that takes two seconds', 10_000, { count: 10_000, slowestMs: 5_000 }, 4_000],
  ['a small quick batch is followed by one twice as large, not more', 1_000, { count: 1_000, slowestMs: 10 }, 2_000],
  ['a batch that was not full says nothing about the machine', 1_000, { count: 3, slowestMs: 60_000 }, 2_000],
  ['a failed batch is followed by one of half its size, so that it cannot fail for ever', 10_000, undefined, 5_000],
  ['a batch has at least the smallest size, however slow it is', 600, { count: 600, slowestMs: 60_000 }, 500],
])('%s', (_, size, refreshed, next) => {
  expect(nextBatchSize(size, refreshed)).toBe(next);
});
