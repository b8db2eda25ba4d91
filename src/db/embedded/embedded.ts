// The private PostgreSQL of a data directory: created at first use, started by the first process that needs it, used by
// all, stopped by the last. If the server breaks down, the service starts it again.
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../failures.ts';
import { chooseAccount } from './account.ts';
import { type Attachment, attach } from './attach.ts';
import { getServerPackage, provideBinaries, type ServerPackage } from './binaries.ts';
import { type Cluster, createCluster, dataFolder, refuseForeignCluster } from './cluster.ts';
import { findHome, makeHome } from './home.ts';
import { becomeService, joinUsers, leaveUsers, type Role } from './lease.ts';
import { EmbeddedDatabaseError } from './problem.ts';
import { stopServer } from './server.ts';

const POLL_MS = 200;
const RETRY_MS = 1_000;

export interface Database {
  connectionString: string;
  /** To be called when every pool is closed. Stops the embedded server if no other process uses it. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  role: Role;
  log: Logger;
  /** Throw if there is no database, rather than create one. */
  mustExist?: boolean;
}

export async function openEmbeddedDatabase(options: EmbeddedOptions): Promise<Database> {
  const cluster = await findOrCreateCluster(options);
  let current = await joinServer(cluster, options);
  let isClosing = false;
  let restarting = Promise.resolve();

  const watch = () =>
    current.client.once('end', () => {
      if (!isClosing) restarting = restart();
    });
  const rejoin = async () => {
    const found = await joinServer(cluster, options);
    if (found.connectionString !== current.connectionString) {
      options.log.error('the embedded PostgreSQL lost its port to another program: restart the service');
    }
    return found;
  };
  const restart = async () => {
    options.log.warn('the embedded PostgreSQL has stopped; restarting it');
    while (!isClosing) {
      try {
        current = await rejoin();
        watch();
        return;
      } catch (err) {
        options.log.error({ err }, 'the embedded PostgreSQL could not be restarted; retrying');
        await sleep(RETRY_MS);
      }
    }
  };
  if (options.role === 'service') watch();

  const close = async () => {
    isClosing = true;
    await restarting;
    await leaveServer(cluster, current.client, options.log);
  };
  return { connectionString: current.connectionString, close };
}

async function findOrCreateCluster({ dataDir, log, mustExist }: EmbeddedOptions): Promise<Cluster> {
  const server = await getServerPackage();
  const found = await findHome(dataDir);
  if (!found && mustExist) {
    throw new EmbeddedDatabaseError(
      `There is no database in ${resolve(dataDir)}: set SPS_DATA_DIR or DATABASE_URL to where it is, or start the service to create one.`,
    );
  }
  const home = found ?? (await createDatabase(server, dataDir, log));
  const account = await chooseAccount(dataFolder(home));
  await refuseForeignCluster(home, server);
  return { home, account, bin: await provideBinaries(server, account, home) };
}

async function createDatabase(server: ServerPackage, dataDir: string, log: Logger): Promise<string> {
  const account = await chooseAccount();
  await makeHome(dataDir, account, async (home) => {
    await createCluster({ home, account, bin: await provideBinaries(server, account, home) });
  });
  const home = await findHome(dataDir);
  if (!home)
    throw new EmbeddedDatabaseError(`The database in ${dataDir} was removed while it was being created: start again.`);
  log.info({ folder: home }, 'created the embedded database');
  return home;
}

/** Connects and makes its claims. If the last user is just stopping the server, waits and starts it again. */
async function joinServer(cluster: Cluster, { role, dataDir, log }: EmbeddedOptions): Promise<Attachment> {
  for (;;) {
    const attachment = await attach(cluster, log, `sps ${role}, process ${process.pid}`);
    try {
      if (await claim(attachment.client, role, dataDir)) return attachment;
    } catch (error) {
      if (!isDatabaseAway(error)) {
        await leaveServer(cluster, attachment.client, log);
        throw error;
      }
      log.debug({ err: error }, 'the embedded PostgreSQL went away while we were joining');
    }
    await attachment.client.end();
    await sleep(POLL_MS);
  }
}

async function claim(client: pg.Client, role: Role, dataDir: string): Promise<boolean> {
  if (!(await joinUsers(client))) return false;
  if (role === 'service') await becomeService(client, dataDir);
  return true;
}

async function leaveServer(cluster: Cluster, client: pg.Client, log: Logger): Promise<void> {
  if (await leaveUsers(client).catch(() => false)) {
    const failure = await stopServer(cluster);
    if (failure) log.warn(`the embedded PostgreSQL did not stop: ${failure}`);
  }
  await client.end();
}
