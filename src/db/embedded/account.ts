// Chooses the system user that runs the embedded server: our own, except for root, as whom PostgreSQL refuses to run.
import { lchown, lstat, readdir, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { EmbeddedDatabaseError } from './problem.ts';
import { runProgram } from './program.ts';

/** `ids` is absent if the server runs as our own user. */
export interface Account {
  name: string;
  ids?: { uid: number; gid: number };
}

const FOR_ROOT = ['postgres', 'nobody'];

/** Returns the account for the server. For root that is the owner of the existing cluster, or a user for a new one. */
export async function chooseAccount(cluster?: string): Promise<Account> {
  if (process.getuid?.() !== 0) return { name: ownName() };
  const owner = cluster === undefined ? undefined : await stat(cluster).catch(() => undefined);
  if (!owner) return accountForRoot();
  if (owner.uid === 0) {
    throw new EmbeddedDatabaseError(
      `The database in ${cluster} belongs to root, and PostgreSQL refuses to run as root: give it to the user postgres with chown -R.`,
    );
  }
  return { name: `uid ${owner.uid}`, ids: { uid: owner.uid, gid: owner.gid } };
}

function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new EmbeddedDatabaseError(
      `The embedded PostgreSQL cannot run as user id ${process.getuid?.()}, which has no entry in /etc/passwd: run as a named user, or set DATABASE_URL.`,
    );
  }
}

async function accountForRoot(): Promise<Account> {
  for (const name of FOR_ROOT) {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => lookUpId(flag, name)));
    if (uid && gid) return { name, ids: { uid, gid } };
  }
  throw new EmbeddedDatabaseError(
    'The embedded PostgreSQL refuses to run as root, and there is no user postgres or nobody: add one, run as another user, or set DATABASE_URL.',
  );
}

/**
 * Gives a file, or a folder with everything in it, to the account; does nothing if the account is our own. The folder
 * comes last, so that until then nobody but root can put anything into it. Of a link, it gives away the link itself,
 * not its target.
 */
export async function giveTo(account: Account, path: string): Promise<void> {
  if (!account.ids) return;
  if ((await lstat(path)).isDirectory()) {
    for (const name of await readdir(path)) await giveTo(account, join(path, name));
  }
  await lchown(path, account.ids.uid, account.ids.gid);
}

/** Looks up an id with the `id` program, so that users of a directory service are found too. */
async function lookUpId(flag: string, name: string): Promise<number | undefined> {
  const { code, output } = await runProgram({ name: 'root' }, 'id', [flag, name]);
  return code === 0 ? Number(output) : undefined;
}
