// A private PostgreSQL for one run of the tests, in a temporary folder: fast and forgetful.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { chooseAccount } from '../../src/db/embedded/account.ts';
import { getServerPackage, provideBinaries } from '../../src/db/embedded/binaries.ts';
import { type Cluster, connectionStringOf, createCluster, dataFolder } from '../../src/db/embedded/cluster.ts';
import { findHome, makeHome } from '../../src/db/embedded/home.ts';
import { isAlive, isServerOf, readLastPort, readPostmaster } from '../../src/db/embedded/postmaster.ts';
import { launchServer, stopServer } from '../../src/db/embedded/server.ts';

const PREFIX = 'sps-test-';
const IN_MEMORY = '/dev/shm';
/** What must be free in memory: a run writes two and a half gigabytes. */
const MIN_FREE_BYTES = 6 * 2 ** 30;
const UNSAFE_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  // Longer than a run. By default, a worker would start in each of its hundred databases every minute and find no work.
  autovacuum_naptime: '1h',
  wal_compression: 'off',
  shared_buffers: '256MB',
};

/** Starts a server with the programs in the folder `given`, or with those that come with the service. */
export async function startTemporaryServer(given?: string): Promise<{ url: string; stop: () => Promise<void> }> {
  await removeLeftovers();
  const folder = await mkdtemp(join(await chooseParentFolder(), `${PREFIX}${process.pid}-`));
  // If we are root, the server runs as another user, who must be able to pass through.
  await chmod(folder, 0o711);
  const account = await chooseAccount(join(folder, 'postgres'));
  const findBin = async (home: string) => given ?? provideBinaries(await getServerPackage(), account, home);
  await makeHome(folder, account, async (home) => {
    await createCluster({ home, account, bin: await findBin(home) }, ['--no-sync']);
  });
  const home = (await findHome(folder)) ?? folder;
  const cluster: Cluster = { home, account, bin: await findBin(home) };
  await launchServer(cluster, { preferredPort: 0, settings: UNSAFE_SETTINGS });
  return {
    url: await connectionStringOf(cluster, await readLastPort(dataFolder(home))),
    stop: async () => {
      await stopServer(cluster);
      // There are a hundred thousand files, and Node.js takes three times as long to remove them.
      await promisify(execFile)('rm', ['-rf', folder]);
    },
  };
}

/**
 * Chooses a folder in memory if there is plenty of it and programs may run there. Of the hundred thousand files of a
 * run, ext4 creates those of one database in 55 ms and removes them in 45; memory takes 17 and 4.
 */
async function chooseParentFolder(): Promise<string> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '');
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*noexec)/m.test(mounts)) return tmpdir();
  const { bavail, bsize } = await statfs(IN_MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) > MIN_FREE_BYTES ? IN_MEMORY : tmpdir();
}

/** Removes what killed runs have left behind. The name of a folder has the pid of its run. */
async function removeLeftovers(): Promise<void> {
  for (const place of [tmpdir(), IN_MEMORY]) {
    for (const name of await readdir(place).catch(() => [])) await removeIfOrphaned(join(place, name));
  }
}

async function removeIfOrphaned(folder: string): Promise<void> {
  const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(basename(folder))?.[1] ?? 0);
  if (!pid || isAlive(pid)) return;
  const postmaster = await readPostmaster(join(folder, 'postgres/cluster')).catch(() => undefined);
  if (postmaster && (await isServerOf(postmaster.pid, folder))) process.kill(postmaster.pid, 'SIGQUIT');
  await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}
