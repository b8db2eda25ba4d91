// Starts the server of a cluster, waits until it answers or ends, and stops it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, dataFolder } from './cluster.ts';
import { readPostmaster } from './postmaster.ts';
import { EmbeddedDatabaseError, firstComplaint } from './problem.ts';
import { runProgram, spawnOptions } from './program.ts';
import { serverSettings, settingArguments } from './settings.ts';

const POLL_MS = 50;
const ATTEMPTS = 60;
const PAUSE_MS = 500;

export interface LaunchOptions {
  /** Used if it is free, so that the address stays the same from start to start. */
  preferredPort: number;
  /** Settings in addition to, or instead of, the usual ones. */
  settings?: Record<string, string>;
}

/** Returns when the folder's server is ready, whether we started it or another process did a moment earlier. */
export async function launchServer(cluster: Cluster, options: LaunchOptions): Promise<void> {
  let { preferredPort } = options;
  for (let attempt = 1; ; attempt++) {
    const complaint = await launchOnce(cluster, await choosePort(preferredPort), options.settings ?? {});
    if (complaint === undefined || complaint.includes('"postmaster.pid" already exists')) return;
    const isPortTaken = complaint.includes('TCP/IP socket');
    // The last processes of a killed server release its shared memory when their statements end.
    const isLeaving = complaint.includes('still in use');
    if (attempt === ATTEMPTS || !(isPortTaken || isLeaving)) {
      throw new EmbeddedDatabaseError(
        `The embedded database in ${cluster.home} does not start (${complaint}): see ${join(cluster.home, 'server.log')}, or set DATABASE_URL.`,
      );
    }
    if (isPortTaken) preferredPort = 0;
    else await sleep(PAUSE_MS);
  }
}

/** Ends the server's sessions and stops it. Returns what went wrong, if anything did. */
export async function stopServer(cluster: Cluster): Promise<string | undefined> {
  const args = ['stop', `--pgdata=${dataFolder(cluster.home)}`, '--mode=fast', '--wait', '--timeout=120'];
  const { code, output } = await runProgram(cluster.account, join(cluster.bin, 'pg_ctl'), args);
  return code === 0 ? undefined : firstComplaint(output);
}

/** Makes one attempt. Returns undefined when the server is ready, otherwise its complaint. */
async function launchOnce(
  cluster: Cluster,
  port: number,
  settings: Record<string, string>,
): Promise<string | undefined> {
  const log = await openLog(cluster);
  const { size } = await log.stat();
  try {
    const child = spawnServer(cluster, { ...settings, port: String(port) }, log.fd);
    const failure = await waitForServer(child, dataFolder(cluster.home));
    if (failure === undefined) return undefined;
    return failure || firstComplaint(await readFrom(log, size));
  } finally {
    await log.close();
  }
}

function spawnServer(cluster: Cluster, settings: Record<string, string>, log: number): ChildProcess {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const all = { ...serverSettings(memory), ...settings };
  const child = spawn(join(cluster.bin, 'postgres'), ['-D', dataFolder(cluster.home), ...settingArguments(all)], {
    ...spawnOptions(cluster.account),
    // A session of its own: Ctrl-C must not reach PostgreSQL before us.
    detached: true,
    stdio: ['ignore', log, log],
  });
  child.unref();
  return child;
}

/**
 * Returns undefined when the server is ready, '' when it ended, otherwise why it could not be started. Has no time
 * limit: recovery after a crash takes its time.
 */
async function waitForServer(child: ChildProcess, folder: string): Promise<string | undefined> {
  let failure: string | undefined;
  child.once('error', (error) => {
    failure = error.message;
  });
  child.once('exit', () => {
    failure ??= '';
  });
  while (failure === undefined) {
    const postmaster = await readPostmaster(folder);
    if (postmaster?.pid === child.pid && postmaster?.state === 'ready') return undefined;
    await sleep(POLL_MS);
  }
  return failure;
}

/** Opens the server's own log. It belongs to the owner of the folder, even when root writes it. */
async function openLog({ home }: Cluster): Promise<FileHandle> {
  const log = await open(join(home, 'server.log'), 'a+', 0o600);
  if (process.getuid?.() === 0) {
    const { uid, gid } = await stat(home);
    await log.chown(uid, gid);
  }
  return log;
}

async function readFrom(log: FileHandle, position: number): Promise<string> {
  const { size } = await log.stat();
  const { buffer, bytesRead } = await log.read(Buffer.alloc(size - position), 0, size - position, position);
  return buffer.toString('utf8', 0, bytesRead);
}

/** Returns the preferred port if it is free, else one below those of outgoing connections, which will stay free. */
async function choosePort(preferred: number): Promise<number> {
  const others = Array.from({ length: 20 }, () => randomInt(20_000, 30_000));
  for (const port of preferred ? [preferred, ...others] : others) {
    if (await isFree(port)) return port;
  }
  throw new EmbeddedDatabaseError('No free port was found on 127.0.0.1 for the embedded database: set DATABASE_URL.');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
