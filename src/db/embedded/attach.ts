// Connects to the cluster's server: the running one, or one started now.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { createClient } from '../client-class.ts';
import { isDiskFull } from '../failures.ts';
import { type Cluster, connectionStringOf, dataFolder } from './cluster.ts';
import {
  isAlive,
  isFromAnotherFolder,
  isServerOf,
  neutraliseStalePid,
  type Postmaster,
  readLastPort,
  readPostmaster,
} from './postmaster.ts';
import { EmbeddedDatabaseError } from './problem.ts';
import { launchServer } from './server.ts';

const POLL_MS = 100;
const EMPTY_MS = 1_000;
const SILENCE_MS = 60_000;
const REPORT_MS = 10_000;
/** The SQLSTATE class of failed logins. */
const INVALID_AUTHORIZATION = '28';

export interface Attachment {
  client: pg.Client;
  connectionString: string;
}

/**
 * Connects to the server, starting it if need be. Waits as long as the server says that it is starting or stopping,
 * then a minute at most, and not for a full disk.
 */
export async function attach(cluster: Cluster, log: Logger, applicationName: string): Promise<Attachment> {
  const folder = dataFolder(cluster.home);
  let reportAt = performance.now() + REPORT_MS;
  let giveUpAt = performance.now() + SILENCE_MS;
  for (;;) {
    const postmaster = await readPostmaster(folder);
    if (postmaster?.text === '' && (await staysEmpty(folder))) {
      await neutraliseStalePid(folder, '');
      continue;
    }
    if (!postmaster || !isAlive(postmaster.pid)) {
      await start(cluster, folder, log);
      // Recovery may have used up all of that time.
      giveUpAt = performance.now() + SILENCE_MS;
      continue;
    }
    if (await isFromAnotherFolder(postmaster, folder)) {
      await neutraliseStalePid(folder, postmaster.text);
      continue;
    }
    const attempt = await tryToConnect(cluster, postmaster, applicationName);
    if (attempt && !(attempt instanceof Error)) return attempt;
    if (!(await isServerOf(postmaster.pid, folder))) {
      await neutraliseStalePid(folder, postmaster.text);
      continue;
    }
    if (postmaster.state !== 'ready') giveUpAt = performance.now() + SILENCE_MS;
    const problem = findProblem(attempt, performance.now() > giveUpAt);
    if (problem !== undefined) {
      throw new EmbeddedDatabaseError(
        `The embedded database in ${cluster.home} is running (process ${postmaster.pid}) but ${problem}.`,
      );
    }
    if (performance.now() > reportAt) {
      log.info({ state: postmaster.state }, 'waiting for the embedded PostgreSQL');
      reportAt = performance.now() + REPORT_MS;
    }
    await sleep(POLL_MS);
  }
}

async function start(cluster: Cluster, folder: string, log: Logger): Promise<void> {
  log.info({ folder: cluster.home }, 'starting the embedded PostgreSQL');
  const launching = launchServer(cluster, { preferredPort: await readLastPort(folder) });
  const reporting = setInterval(() => log.info('waiting for the embedded PostgreSQL'), REPORT_MS);
  await launching.finally(() => clearInterval(reporting));
}

/** Returns what is wrong with a server that runs; undefined if another attempt may succeed. */
function findProblem(failure: Error | undefined, isTimeUp: boolean): string | undefined {
  if (failure && 'code' in failure && String(failure.code).startsWith(INVALID_AUTHORIZATION)) {
    return `rejects the login: ${failure.message}`;
  }
  if (!isTimeUp && !isDiskFull(failure)) return undefined;
  return failure instanceof pg.DatabaseError
    ? `refuses connections: ${failure.message}`
    : 'does not answer: stop that process and start again';
}

/** Returns undefined while the server starts or stops; when it is ready, a connection or why there is none. */
async function tryToConnect(
  cluster: Cluster,
  { port, state }: Postmaster,
  applicationName: string,
): Promise<Attachment | Error | undefined> {
  if (state !== 'ready') return undefined;
  const connectionString = await connectionStringOf(cluster, port);
  const client = createClient({
    connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  // The server may end at any moment; the event 'end' informs the holder of the client.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return { client, connectionString };
  } catch (error) {
    return error as Error;
  }
}

/** A server that is just starting fills the file within moments; a power failure can leave it empty for ever. */
async function staysEmpty(folder: string): Promise<boolean> {
  await sleep(EMPTY_MS);
  return (await readPostmaster(folder))?.text === '';
}
