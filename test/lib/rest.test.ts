// A resting step does nothing, and says for how long; work that waits for a quiet process waits for a whole stretch.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createQuietCheck, createRest, createRestingStep } from '../../src/lib/rest.ts';

const stopTheClock = () => vi.useFakeTimers({ toFake: ['performance'] });

afterEach(() => {
  vi.useRealTimers();
});

test('a process is quiet when its event loop had little to do for a whole stretch, even the first one', async () => {
  const stretchMs = 200;
  /** Timers count whole milliseconds, so one may fire up to a millisecond early. */
  const aStretch = () => sleep(stretchMs + 1);
  const isQuiet = createQuietCheck({ busy: 0.9, stretchMs });
  expect(isQuiet()).toBe(false);
  await aStretch();
  expect(isQuiet()).toBe(true);

  const [soon, until] = [performance.now() + stretchMs / 10, performance.now() + stretchMs + 1];
  while (performance.now() < soon);
  expect(isQuiet()).toBe(true);
  while (performance.now() < until);
  expect(isQuiet()).toBe(false);
  await aStretch();
  expect(isQuiet()).toBe(true);
});

test.each([
  ['quiet', 1, [1_000, 60_000]],
  ['busy', -1, [9_000, 60_000]],
])('a %s process rests in proportion to its work, a minute at most', (_, busy, rests) => {
  const rest = createRest(busy);
  expect([rest(1_000), rest(120_000)]).toEqual(rests);
});

test('a step that failed rests too', async () => {
  stopTheClock();
  const restAfter = vi.fn((workedMs: number) => 2 * workedMs);
  const step = createRestingStep(async () => {
    vi.advanceTimersByTime(5);
    throw new Error('failed');
  }, restAfter);
  await expect(step.run()).rejects.toThrow('failed');
  expect(restAfter).toHaveBeenCalledExactlyOnceWith(5, undefined);
  expect(step.restsFor()).toBe(10);
});

test('a step rests after its run, depending on how long it took and what it did', async () => {
  stopTheClock();
  const work = vi.fn(async () => {
    vi.advanceTimersByTime(5);
    return 3;
  });
  const restAfter = vi.fn((workedMs: number, done = 0) => workedMs * done);
  const step = createRestingStep(work, restAfter);
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
