// A step that rests does nothing, and says for how long.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { resting } from '../../src/lib/rest.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('one that failed rests, too', async () => {
  const step = resting(
    async () => {
      vi.advanceTimersByTime(5);
      throw new Error('failed');
    },
    (workedMs) => 2 * workedMs,
  );
  await expect(step.run()).rejects.toThrow('failed');
  expect(step.restsFor()).toBe(10);
});

test('a step rests after it was run, by what it took and did', async () => {
  const work = vi.fn(async () => {
    vi.advanceTimersByTime(5);
    return 3;
  });
  const restAfter = vi.fn((workedMs: number, done: number) => workedMs * done);
  const step = resting(work, restAfter);
  expect(step.restsFor()).toBeLessThanOrEqual(0);

  expect(await step.run()).toBe(3);
  expect(restAfter).toHaveBeenCalledExactlyOnceWith(5, 3);
  expect(step.restsFor()).toBe(15);
  vi.advanceTimersByTime(14);
  expect(await step.run()).toBe(0);
  expect(work).toHaveBeenCalledTimes(1);

  vi.advanceTimersByTime(1);
  expect(step.restsFor()).toBe(0);
  expect(await step.run()).toBe(3);
  expect(work).toHaveBeenCalledTimes(2);
});
