// Background work goes on, whatever fails, until it is stopped.
import type { Logger } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type LoopOptions, startLoop } from '../../src/lib/loop.ts';
import { createWakeUp } from '../../src/lib/wake-up.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function start(run: (isStopped: () => boolean) => Promise<number>, options: Partial<LoopOptions> = {}) {
  const warn = vi.fn();
  return { warn, loop: startLoop({ log: { warn } as unknown as Logger, name: 'work', run, ...options }) };
}

test('a failed round is logged and retried after ever longer waits; a success makes the wait short again', async () => {
  const error = new Error('failed');
  const outcomes = [error, error, error, error, 100, error, 100];
  const rounds: number[] = [];
  const began = Date.now();
  const { warn, loop } = start(async () => {
    rounds.push(Date.now() - began);
    const outcome = outcomes.shift() ?? 60_000;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(rounds).toEqual([0, 1_000, 3_000, 7_000, 12_000, 12_100, 13_100, 13_200]);
  expect(warn).toHaveBeenCalledTimes(5);
  expect(warn).toHaveBeenCalledWith({ err: error, loop: 'work' }, 'background work failed; retrying');
  await loop.stop();
});

test('a wake-up ends a rest early, also the one after a failure', async () => {
  const outcomes = [60_000, new Error('failed'), new Error('failed'), 60_000];
  const rounds: number[] = [];
  const began = Date.now();
  const wakeUp = createWakeUp();
  const run = async () => {
    rounds.push(Date.now() - began);
    const outcome = outcomes.shift() as number | Error;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  const { loop } = start(run, { wakeUp, firstRetryMs: 100 });
  for (const waitMs of [30, 110]) {
    await vi.advanceTimersByTimeAsync(waitMs);
    wakeUp.wake();
  }
  await vi.advanceTimersByTimeAsync(1_000);
  expect(rounds).toEqual([0, 30, 130, 140]);
  await loop.stop();
});

test('stopping ends a rest early', async () => {
  const run = vi.fn(async () => 60_000);
  const { loop } = start(run);
  await vi.advanceTimersByTimeAsync(1);
  await loop.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(1);
});

test('stopping waits for the round in progress, which may ask whether to end, but for no rest after it', async () => {
  let end = (_restMs: number) => {};
  let isStopped = () => false;
  const run = vi.fn((given: () => boolean) => {
    isStopped = given;
    return new Promise<number>((resolve) => {
      end = resolve;
    });
  });
  const { loop } = start(run);
  expect(isStopped()).toBe(false);
  let isOver = false;
  const stopped = loop.stop().then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect([isStopped(), isOver]).toEqual([true, false]);
  end(60_000);
  await stopped;
  expect(run).toHaveBeenCalledTimes(1);
});
