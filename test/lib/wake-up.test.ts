// Whoever waits for a wake-up misses none.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWakeUp } from '../../src/lib/wake-up.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns a function that says whether the wait has ended. */
function watch(waiting: Promise<void>): () => Promise<boolean> {
  let isOver = false;
  waiting.then(() => {
    isOver = true;
  });
  return async () => {
    await vi.advanceTimersByTimeAsync(0);
    return isOver;
  };
}

test('a wake-up ends the wait immediately, and leaves no timer that would keep the process alive', async () => {
  const { wake, wait } = createWakeUp();
  const isOver = watch(wait(60_000));
  expect(await isOver()).toBe(false);
  wake();
  expect(await isOver()).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('without a wake-up the wait ends after its time', async () => {
  const isOver = watch(createWakeUp().wait(1_000));
  await vi.advanceTimersByTimeAsync(999);
  expect(await isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await isOver()).toBe(true);
});

test('wake-ups that come while nobody waits end the next wait, and no other', async () => {
  const { wake, wait } = createWakeUp();
  wake();
  wake();
  expect(await watch(wait(1_000))()).toBe(true);
  const isOver = watch(wait(1_000));
  expect(await isOver()).toBe(false);
  wake();
  expect(await isOver()).toBe(true);
  expect(await watch(wait(1_000))()).toBe(false);
});
