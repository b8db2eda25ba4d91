// Answers in memory: how many are kept, and the moments for which a kept one is valid.
import { expect, test } from 'vitest';
import { createAnswerCache } from '../../src/analytics/answer-cache.ts';

const MIB = 2 ** 20;
const NOW = new Date('2025-06-15T12:00:00.000Z');
const MICROS = NOW.getTime() * 1000;

const answer = (bytes: number, { from = MICROS, until = MICROS + 10_000 } = {}) => ({
  body: Buffer.alloc(bytes),
  version: '1',
  from,
  until,
});

test('at most 32 MiB of answers are kept, the most recently used ones, and none that would displace many', () => {
  const { keep, find } = createAnswerCache();
  const listKept = () => ['a', 'b', 'c', 'd', 'e', 'f'].filter((key) => find(key, NOW));
  for (const key of ['a', 'b', 'c', 'd']) keep(key, answer(7 * MIB));
  find('a', NOW);
  keep('e', answer(7 * MIB));
  keep('f', answer(8 * MIB));
  expect(listKept()).toEqual(['a', 'c', 'd', 'e']);
});

test('an answer is valid from its millisecond until the last microsecond of the question reaches the moment at which it may change', () => {
  const { keep, find } = createAnswerCache();
  const isFound = (until: number, ms: number) => {
    keep('a', answer(1, { until: MICROS + until }));
    return find('a', new Date(NOW.getTime() + ms)) !== undefined;
  };
  expect([-1, 0, 1, 2].map((ms) => isFound(2_000, ms))).toEqual([false, true, true, false]);
  expect([1, 2].map((ms) => isFound(2_999, ms))).toEqual([true, false]);
});
