// Which system user runs the embedded server: we do, but PostgreSQL refuses to run as root.
import { lchown, lstat, readdir, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { EmbeddedDatabaseError } from './problem.ts';
import { runProgram } from './program.ts';

/** `ids` is absent where the server runs as the user that runs us. */
export interface Account {
  name: string;
  ids?: { uid: number; gid: number };
}

const FOR_ROOT = ['postgres', 'nobody'];

/** The owner of the cluster in a folder, when root opens it; the user for a new one, where there is none. */
export async function chooseAccount(cluster?: string): Promise<Account> {
  if (process.getuid?.() !== 0) return { name: ownName() };
  const owner = cluster === undefined ? undefined : await stat(cluster).catch(() => undefined);
  if (!owner) return accountForRoot();
  if (owner.uid === 0) {
    throw new EmbeddedDatabaseError(
      `The database in ${cluster} belongs to root, as whom PostgreSQL does not run: give it to the user postgres with chown -R.`,
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
    'The embedded PostgreSQL does not run as root and there is no user postgres or nobody: add one, run as another user, or set DATABASE_URL.',
  );
}

/**
 * Gives a file, or a folder with all that is in it, to the account: the folder last, so that until then nobody but root can put anything into
 * it, and a link itself, not what it leads to. Nothing where the account is ours.
 */
export async function giveTo(account: Account, path: string): Promise<void> {
  if (!account.ids) return;
  if ((await lstat(path)).isDirectory()) {
    for (const name of await readdir(path)) await giveTo(account, join(path, name));
  }
  await lchown(path, account.ids.uid, account.ids.gid);
}

/** Asks `id`, so that users of a directory service are found too. */
async function lookUpId(flag: string, name: string): Promise<number | undefined> {
  const { code, output } = await runProgram({ name: 'root' }, 'id', [flag, name]);
  return code === 0 ? Number(output) : undefined;
}
