// A signal repeated within a moment counts as the same one: under npm, both the terminal and npm send it.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { onInterrupts } from '../../src/lib/interrupts.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('the first signal is reported once, and each later one that comes more than two seconds after the last reported one, until nobody listens', () => {
  const calls: string[] = [];
  const stop = onInterrupts(['SIGHUP', 'SIGUSR2'], {
    onFirst: () => calls.push(`first at ${performance.now()}`),
    onAgain: () => calls.push(`again at ${performance.now()}`),
  });
  const began = performance.now();
  const sendAt = (ms: number, signal: NodeJS.Signals) => {
    vi.advanceTimersByTime(began + ms - performance.now());
    process.emit(signal);
  };
  sendAt(10, 'SIGUSR2');
  sendAt(10, 'SIGHUP');
  sendAt(2_010, 'SIGHUP');
  sendAt(2_011, 'SIGHUP');
  sendAt(4_011, 'SIGUSR2');
  sendAt(4_012, 'SIGUSR2');
  stop();
  sendAt(9_000, 'SIGHUP');
  sendAt(9_000, 'SIGUSR2');
  expect(calls).toEqual([`first at ${began + 10}`, `again at ${began + 2_011}`, `again at ${began + 4_012}`]);
});
