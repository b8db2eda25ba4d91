// The built program, run as a process of its own on a database of the test file.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Programs start slowly on a busy machine. */
vi.setConfig({ testTimeout: 120_000 });

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Sps {
  run: (...args: string[]) => Promise<Ended>;
  /** With --json: what it prints; throws unless it ends well. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: (...args: string[]) => Promise<any>;
  start: (...args: string[]) => ChildProcess;
}

/** How a process ended and what it printed. */
export async function ended(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (text) => {
    stdout += text;
  });
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

export function createSps(env: Record<string, string>): Sps {
  const start = (...args: string[]) =>
    spawn(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env.PATH ?? '', ...env } });
  const run = (...args: string[]) => ended(start(...args));
  return {
    start,
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0) throw new Error(`sps ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
}
