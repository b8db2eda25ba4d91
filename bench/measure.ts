// Small helpers for measuring.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the resident memory of a process in MiB. */
export function residentMib(pid: number): number {
  try {
    const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(match?.[1] ?? 0) / 1024;
  } catch {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024;
  }
}

/** Samples the memory of a process until stopped. */
export function watchMemory(pid: number): { stop: () => { maxMib: number; samples: number[] } } {
  const samples: number[] = [];
  const sample = () => {
    try {
      samples.push(residentMib(pid));
    } catch {
      // The process has just ended.
    }
  };
  const timer = setInterval(sample, 200);
  return {
    stop: () => {
      clearInterval(timer);
      return { maxMib: Math.max(...samples), samples };
    },
  };
}

/** Polls until a condition holds; throws an error with `timeoutMessage` if it does not in time. */
export async function waitUntil(
  holds: () => Promise<boolean>,
  { timeoutMs, intervalMs, timeoutMessage }: { timeoutMs: number; intervalMs: number; timeoutMessage: string },
): Promise<void> {
  const until = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() >= until) throw new Error(timeoutMessage);
    await sleep(intervalMs);
  }
}

export async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const began = performance.now();
  const value = await work();
  return { value, ms: performance.now() - began };
}
