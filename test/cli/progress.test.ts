// How an import reports its progress when there is no terminal.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLineProgress } from '../../src/cli/progress.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  // An import begins some time after its process.
  vi.advanceTimersByTime(60_000);
});
afterEach(() => {
  vi.useRealTimers();
});

test('progress is printed every half minute, and not before', () => {
  const lines: string[] = [];
  const { onProgress } = createLineProgress((line) => lines.push(line));
  const report = (bytes: number) =>
    onProgress({ bytes, sizeBytes: 300, read: bytes, written: bytes - 1, unchanged: 0, rejected: 1 });
  for (const seconds of [10, 10, 9, 1, 29, 40]) {
    vi.advanceTimersByTime(seconds * 1000);
    report(lines.length * 100 + 50);
  }
  expect(lines).toEqual(['16%  50 read, 49 written, 1 rejected\n', '50%  150 read, 149 written, 1 rejected\n']);
  const ofPipe: string[] = [];
  const pipe = createLineProgress((line) => ofPipe.push(line));
  vi.advanceTimersByTime(30_000);
  pipe.onProgress({ bytes: 50, sizeBytes: 0, read: 5, written: 5, unchanged: 0, rejected: 0 });
  expect(ofPipe).toEqual(['5 read, 5 written, 0 rejected\n']);
});
