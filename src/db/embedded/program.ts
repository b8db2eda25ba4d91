// Runs a program as the server's user, from / (our folder may be closed to that user) and without our environment.
import { type SpawnOptions, spawn } from 'node:child_process';
import type { Account } from './account.ts';

/** Returns the options for starting any PostgreSQL program. Setting ids also drops the groups of root. */
export function spawnOptions(account: Account): SpawnOptions {
  return { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' }, ...account.ids };
}

/**
 * Runs a program to its end. If it could not be started or was killed, `code` is null and `output` says why. It gets a
 * process group of its own: Ctrl-C is for the service, which stops when the program is done.
 */
export function runProgram(
  account: Account,
  file: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk;
    };
    const child = spawn(file, args, { ...spawnOptions(account), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', (error) => resolve({ code: null, output: error.message }));
    child.on('close', (code, signal) => resolve({ code, output: signal ? `ended by ${signal}` : output }));
  });
}

/** Whether the account may enter the folder. Tries it for real, as modes, access lists and mounts all have a say. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  const { code } = await runProgram(account, '/bin/sh', ['-c', 'cd -- "$0"', folder]);
  return code === 0;
}
