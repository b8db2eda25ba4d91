import { expect, test } from 'vitest';
import { createBackoff } from '../../src/lib/backoff.ts';

test('each wait is twice as long as the one before, up to the longest, and short again after a success', () => {
  const { next, reset } = createBackoff(100, 500);
  expect([next(), next(), next(), next(), next()]).toEqual([100, 200, 400, 500, 500]);
  reset();
  expect([next(), next()]).toEqual([100, 200]);
});
