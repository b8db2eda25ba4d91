// Where the database is stored: in the folder `postgres` of the data directory. If root's server user cannot enter the
// data directory (a home of mode 0700), the folder is under /var/lib, else /var/tmp, and `postgres` is a link to it.
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, realpath, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Account } from './account.ts';
import { EmbeddedDatabaseError, explainWriteFailure } from './problem.ts';
import { canEnter } from './program.ts';
import { syncFolder } from './sync-folder.ts';

const ELSEWHERE = ['/var/lib', '/var/tmp'];

/** Returns the real folder of an existing database; undefined if there is none. */
export async function findHome(dataDir: string): Promise<string | undefined> {
  const path = join(resolve(dataDir), 'postgres');
  const found = await lstat(path).catch(({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new EmbeddedDatabaseError(
      `The data directory ${dirname(path)} cannot be read (${message}): run as the user who created it, or set SPS_DATA_DIR to another folder.`,
    );
  });
  if (!found) return undefined;
  return realpath(path).catch(() => {
    throw new EmbeddedDatabaseError(
      `${path} is a link to a folder that is gone: bring that folder back, or remove the link to start with an empty database.`,
    );
  });
}

/**
 * Makes the folder, lets `fill` create the database in it and only then gives it its name, so that nobody ever finds a
 * half-made one. Returns false if another process was quicker: then its database is used, and ours is gone.
 */
export async function makeHome(
  dataDir: string,
  account: Account,
  fill: (folder: string) => Promise<void>,
): Promise<boolean> {
  const parent = resolve(dataDir);
  await mkdir(parent, { recursive: true }).catch((error: Error) => {
    throw new EmbeddedDatabaseError(
      `The data directory ${parent} cannot be created (${error.message}): set SPS_DATA_DIR to a writable folder.`,
    );
  });
  const folder = await makeFolder(parent, account);
  try {
    await fill(folder);
    return await publish(folder, join(parent, 'postgres'));
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw explainWriteFailure(error, dirname(folder));
  }
}

async function makeFolder(parent: string, account: Account): Promise<string> {
  const near = await mkdtemp(join(parent, 'postgres.new-')).catch((error: Error) => {
    throw new EmbeddedDatabaseError(
      `The data directory ${parent} is not writable (${error.message}): set SPS_DATA_DIR to a folder that is.`,
    );
  });
  if (await opensTo(account, near)) return near;
  await rm(near, { recursive: true });
  for (const base of ELSEWHERE) {
    const folder = await mkdtemp(join(base, 'sps-postgres-')).catch(() => undefined);
    if (folder && (await opensTo(account, folder))) return folder;
    if (folder) await rm(folder, { recursive: true });
  }
  throw new EmbeddedDatabaseError(
    `The user ${account.name}, who runs the database for root, can enter neither ${parent} nor ${ELSEWHERE.join(' nor ')}: set SPS_DATA_DIR to a folder that this user can enter.`,
  );
}

/**
 * Lets the account pass through our folder, made with mode 0700, to the cluster in it, but neither list nor write the
 * folder. Returns whether the account can enter it.
 */
async function opensTo(account: Account, folder: string): Promise<boolean> {
  if (!account.ids) return true;
  await chmod(folder, 0o711);
  return canEnter(account, folder);
}

async function publish(folder: string, path: string): Promise<boolean> {
  const isNear = folder.startsWith(`${path}.new-`);
  try {
    await (isNear ? rename(folder, path) : symlink(folder, path));
  } catch (error) {
    if (!existsSync(path)) throw error;
    await rm(folder, { recursive: true, force: true });
    return false;
  }
  await syncFolder(dirname(path));
  return true;
}
