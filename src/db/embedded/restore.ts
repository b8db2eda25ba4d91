// Restores the embedded database from a backup, for the user that will run it.
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { chooseAccount, giveTo } from './account.ts';
import { copyDurably } from './backup.ts';
import { getServerPackage } from './binaries.ts';
import { dataFolder, refuseForeignCluster } from './cluster.ts';
import { refuseIncomplete } from './file-list.ts';
import { findHome, makeHome } from './home.ts';
import { EmbeddedDatabaseError } from './problem.ts';
import { syncFolder } from './sync-folder.ts';

/** Copies everything, including the log. */
async function copyAll(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyAll(source, target, signal);
    else await copyDurably(source, target, signal);
  }
  await syncFolder(to);
}

function alreadyExistsError(dataDir: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `${dataDir} already holds a database: stop the service and move ${join(resolve(dataDir), 'postgres')} away first.`,
  );
}

/**
 * Restores a backup, which stays as it is, to a data directory that has no database. The next start recovers from the
 * log. If aborted, leaves nothing behind.
 */
export async function restore(from: string, dataDir: string, signal?: AbortSignal): Promise<void> {
  const backup = resolve(from);
  if (await findHome(dataDir)) throw alreadyExistsError(dataDir);
  await refuseIncomplete(backup);
  await refuseForeignCluster(backup, await getServerPackage());
  const account = await chooseAccount();
  const isOurs = await makeHome(dataDir, account, async (home) => {
    await copyAll(dataFolder(backup), dataFolder(home), signal);
    await copyDurably(join(backup, 'password'), join(home, 'password'), signal);
    await giveTo(account, dataFolder(home));
    await giveTo(account, join(home, 'password'));
    await syncFolder(home);
  });
  // A service that was started meanwhile made an empty one.
  if (!isOurs) throw alreadyExistsError(dataDir);
}
