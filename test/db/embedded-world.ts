// Data directories for single tests, the processes that use them, and the server behind these.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { isAlive } from '../../src/db/embedded/postmaster.ts';
import { type Program, startProgram } from '../setup/processes.ts';

export const isRoot = process.getuid?.() === 0;

export type User = Program & { url: string };

export interface Folder {
  path: string;
  /** Starts a process that uses the database. Resolves when it has opened it. */
  use: (role: 'service' | 'cli') => Promise<User>;
  /** Starts a process that is expected to be refused. Resolves to its output. */
  refusal: (role: 'service' | 'cli', ids?: { uid: number; gid: number }) => Promise<string>;
  /** Returns the id of the server's process if postmaster.pid names a live one. */
  serverPid: () => Promise<number | undefined>;
  remove: () => Promise<void>;
}

export async function createFolder(base = tmpdir()): Promise<Folder> {
  const path = await mkdtemp(join(base, 'sps-embedded-'));
  await chmod(path, 0o711);
  const users: Program[] = [];
  const start = (role: string, ids = {}) => {
    const user = startProgram('test/db/use-database.js', [role, path], {}, ids);
    users.push(user);
    return user;
  };
  const serverPid = async () => {
    const text = await readFile(join(path, 'postgres/cluster/postmaster.pid'), 'utf8').catch(() => '');
    const pid = Number(text.split('\n')[0]);
    return isAlive(pid) ? pid : undefined;
  };
  return {
    path,
    serverPid,
    async use(role) {
      const user = start(role);
      const [, url = ''] = await user.printed(/open (.*)\n/);
      return { ...user, url };
    },
    async refusal(role, ids) {
      const user = start(role, ids);
      if ((await user.ended) !== 1) throw new Error(`it was not refused: ${user.stdout()}`);
      return user.stdout();
    },
    async remove() {
      for (const { child } of users) child.kill('SIGKILL');
      const pid = await serverPid();
      if (pid) process.kill(pid, 'SIGQUIT');
      while (isAlive(pid ?? 0)) await sleep(20);
      const home = await realpath(join(path, 'postgres')).catch(() => path);
      await rm(home, { recursive: true, force: true });
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** Copies a data directory, owners included, because creating one takes a second. */
export async function copyFolder(from: Folder, base = tmpdir()): Promise<Folder> {
  const to = await createFolder(base);
  await promisify(execFile)('cp', ['-a', join(from.path, 'postgres'), to.path]);
  return to;
}

/** Gives each test of a file its own copy of one data directory, which was used and shut down cleanly. */
export function forEveryTest(take: (copy: Folder) => void): void {
  let made: Folder;
  let copy: Folder;
  beforeAll(async () => {
    made = await createFolder();
    await leave(await made.use('service'));
  }, 60_000);
  afterAll(() => made.remove());
  beforeEach(async () => {
    copy = await copyFolder(made);
    take(copy);
  });
  afterEach(() => copy.remove());
}

export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Retries until the attempt does not throw. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(100);
    }
  }
}

export async function leave(user: User): Promise<void> {
  user.child.kill('SIGTERM');
  await user.ended;
}

export async function kill(user: User): Promise<void> {
  user.child.kill('SIGKILL');
  await user.ended;
}
