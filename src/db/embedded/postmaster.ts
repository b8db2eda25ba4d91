// What PostgreSQL says about itself in postmaster.pid, and whether that is still true.
import { link, open, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlainFile } from './plain-file.ts';
import { runProgram } from './program.ts';

export interface Postmaster {
  /** The file as it was read. */
  text: string;
  pid: number;
  /** The data folder on which it runs, by the name that it was given. */
  folder: string;
  port: number;
  /** starting, stopping, ready or standby; empty for a moment at the very start. */
  state: string;
}

/** Parses the file. Lines: process, folder, start time, port, socket folder, address, shared memory, state. Pure. */
export function parsePostmaster(text: string): Postmaster {
  const lines = text.split('\n').map((line) => line.trim());
  return {
    text,
    pid: Number(lines[0] || 0),
    folder: lines[1] ?? '',
    port: Number(lines[3] || 0),
    state: lines[7] ?? '',
  };
}

export async function readPostmaster(folder: string): Promise<Postmaster | undefined> {
  const text = await readPlainFile(join(folder, 'postmaster.pid')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : parsePostmaster(text);
}

/** Returns the port of the last start, from the command line that PostgreSQL keeps; 0 if there was none. */
export async function readLastPort(folder: string): Promise<number> {
  const command = await readPlainFile(join(folder, 'postmaster.opts')).catch(() => '');
  // Only the last argument counts: the name of the folder may contain the same text.
  return Number(/"port=(\d+)"\s*$/.exec(command)?.[1] ?? 0);
}

/** Whether a process with that id is running, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a process is this folder's server: after a crash, its id may belong to something else. True if unknown. */
export async function isServerOf(pid: number, folder: string): Promise<boolean> {
  const command =
    process.platform === 'linux'
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch((error) => (error.code === 'ENOENT' ? '' : folder))
      : (await runProgram({ name: 'self' }, 'ps', ['-o', 'command=', '-p', String(pid)])).output;
  return command.includes(folder);
}

/**
 * Whether the file came from another folder, as in a copy that was made while that folder's server ran: then it names
 * the server of the original. If the folder was moved instead, none of the old name exists any more.
 */
export async function isFromAnotherFolder({ folder }: Postmaster, own: string): Promise<boolean> {
  const [named, ours] = await Promise.all([stat(folder).catch(() => undefined), stat(own)]);
  return named !== undefined && (named.dev !== ours.dev || named.ino !== ours.ino);
}

const NO_PROCESS = 2_147_483_646;

/**
 * Lets PostgreSQL start when postmaster.pid names a process that is not its server; otherwise it would refuse for ever.
 * The file is kept, but made to name a process that cannot exist: then PostgreSQL still checks the shared memory that
 * the file also names (a leftover backend may be writing). `seen` is the text on which the caller decided; a newer
 * file is left alone.
 */
export async function neutraliseStalePid(folder: string, seen: string): Promise<void> {
  const pidFile = join(folder, 'postmaster.pid');
  const aside = `${pidFile}.stale-${process.pid}`;
  try {
    await rename(pidFile, aside);
  } catch (error) {
    // Another process is dealing with it just now.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    const text = await readPlainFile(aside);
    if (text === seen) await replaceFile(folder, aside, text.replace(/^.*/, String(NO_PROCESS)));
  } finally {
    await link(aside, pidFile).catch(() => undefined);
    await unlink(aside);
  }
}

/**
 * Replaces a file by a new one of the folder's owner: it may be a link by now, and root must not write to its target.
 */
async function replaceFile(folder: string, path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const { uid, gid } = await stat(folder);
  // A killed process may have left one: in a container, each process has the same id.
  await rm(fresh, { force: true });
  const file = await open(fresh, 'wx', 0o600);
  try {
    await file.chown(uid, gid);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}
