// A step that rests does nothing, and says for how long.
import { expect, test, vi } from 'vitest';
import { resting } from '../../src/lib/rest.ts';

test('a step rests after it was run, by what it took and did', async () => {
  const work = vi.fn(async () => 3);
  const restAfter = vi.fn((_workedMs: number, done: number) => done * 20);
  const step = resting(work, restAfter);
  expect(step.restsFor()).toBeLessThanOrEqual(0);

  expect(await step.run()).toBe(3);
  expect(restAfter).toHaveBeenCalledExactlyOnceWith(expect.any(Number), 3);
  expect(step.restsFor()).toBeGreaterThan(0);
  expect(step.restsFor()).toBeLessThanOrEqual(60);
  expect(await step.run()).toBe(0);
  expect(work).toHaveBeenCalledTimes(1);

  await vi.waitFor(() => expect(step.restsFor()).toBeLessThanOrEqual(0));
  expect(await step.run()).toBe(3);
  expect(work).toHaveBeenCalledTimes(2);
});
