// Real processes of the built program, watched from outside.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expectNoSecrets } from './secrets.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT_MS = 60_000;

export interface Program {
  child: ChildProcess;
  /** What the program has printed so far. */
  stdout: () => string;
  stderr: () => string;
  /** Resolves once standard output matches; rejects with all output if the program ends without a match. */
  printed: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Exit code, or the signal that ended it. Fails if a key or a secret was logged on standard error. */
  ended: Promise<number | NodeJS.Signals | null>;
}

/** Runs a file of the checkout. Of our environment it gets only PATH; `env` is the rest. */
export function startProgram(
  file: string,
  args: readonly string[],
  env: Record<string, string>,
  ids: { uid?: number; gid?: number } = {},
): Program {
  const child = spawn(process.execPath, [`${ROOT}${file}`, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...ids,
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (texts.stdout += chunk));
  child.stderr.on('data', (chunk) => (texts.stderr += chunk));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      try {
        expectNoSecrets(texts.stderr.split('\n'));
        resolve(code ?? signal);
      } catch (error) {
        reject(error);
      }
    });
  });
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const fail = () => reject(new Error(`no ${pattern} in:\n${texts.stdout}\n${texts.stderr}`));
      const timer = setTimeout(fail, TIMEOUT_MS);
      const check = () => {
        const found = pattern.exec(texts.stdout);
        if (!found) return;
        clearTimeout(timer);
        child.stdout.off('data', check);
        resolve(found);
      };
      child.stdout.on('data', check);
      child.on('close', fail);
      check();
    });
  return { child, stdout: () => texts.stdout, stderr: () => texts.stderr, printed, ended };
}
