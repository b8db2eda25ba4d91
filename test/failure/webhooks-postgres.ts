// A PostgreSQL for a single test, which can restart or kill it, on the same port and with the durability we ship.
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseAccount } from '../../src/db/embedded/account.ts';
import { getServerPackage, provideBinaries } from '../../src/db/embedded/binaries.ts';
import { type Cluster, connectionStringOf, createCluster, dataFolder } from '../../src/db/embedded/cluster.ts';
import { findHome, makeHome } from '../../src/db/embedded/home.ts';
import { readLastPort, readPostmaster } from '../../src/db/embedded/postmaster.ts';
import { launchServer, stopServer } from '../../src/db/embedded/server.ts';

export interface RestartableServer {
  url: string;
  restart: () => Promise<void>;
  /** Kills the server's first process with SIGKILL, then starts the server, which recovers. */
  crash: () => Promise<void>;
  /** Returns a function that restores the present state, as if a standby took over that lacks everything since. */
  keep: () => Promise<() => Promise<void>>;
  stop: () => Promise<void>;
}

/** Retries: processes of the killed server still write to its log, which can look like a failure of the next server. */
async function relaunch(cluster: Cluster, preferredPort: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await sleep(500);
    try {
      await launchServer(cluster, { preferredPort });
      return;
    } catch (error) {
      if (attempt === 20) throw error;
    }
  }
}

export async function startRestartableServer(): Promise<RestartableServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sps-failure-'));
  // If we are root, the server runs as another user, who must be able to pass through.
  await chmod(folder, 0o711);
  const server = await getServerPackage();
  const account = await chooseAccount(join(folder, 'postgres'));
  await makeHome(folder, account, async (home) => {
    await createCluster({ home, account, bin: await provideBinaries(server, account, home) });
  });
  const home = (await findHome(folder)) ?? folder;
  const cluster: Cluster = { home, account, bin: await provideBinaries(server, account, home) };
  await launchServer(cluster, { preferredPort: 0 });
  const preferredPort = await readLastPort(dataFolder(home));
  return {
    url: await connectionStringOf(cluster, preferredPort),
    async restart() {
      await stopServer(cluster);
      await launchServer(cluster, { preferredPort });
    },
    async crash() {
      const postmaster = await readPostmaster(dataFolder(home));
      if (!postmaster) throw new Error('there is no server to kill');
      process.kill(postmaster.pid, 'SIGKILL');
      await relaunch(cluster, preferredPort);
    },
    async keep() {
      const [data, copy] = [dataFolder(home), `${dataFolder(home)}.kept`];
      await stopServer(cluster);
      execFileSync('cp', ['-a', data, copy]);
      await launchServer(cluster, { preferredPort });
      return async () => {
        await stopServer(cluster);
        await rm(data, { recursive: true });
        await rename(copy, data);
        await launchServer(cluster, { preferredPort });
      };
    },
    async stop() {
      await stopServer(cluster);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
