// A cluster on disk: runs initdb once, keeps the password next to it, and checks whether this program may open it.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROOF_METHOD, PROOF_PARAMETER } from '../../config/database-address.ts';
import { type Account, giveTo } from './account.ts';
import type { ServerPackage } from './binaries.ts';
import { readPlainFile } from './plain-file.ts';
import { EmbeddedDatabaseError, firstComplaint } from './problem.ts';
import { runProgram } from './program.ts';

/** An existing database: who runs it, with what, where. */
export interface Cluster {
  /** The folder that holds everything else. */
  home: string;
  account: Account;
  /** The folder of PostgreSQL's programs. */
  bin: string;
}

/** Returns the server's address. Reads the password each time: being able to read it shows that the cluster is ours. */
export async function connectionStringOf({ home }: Cluster, port: number): Promise<string> {
  // With sslmode, so that PGSSLMODE in the environment has no effect.
  return `postgres://postgres:${await readPassword(home)}@127.0.0.1:${port}/postgres?sslmode=disable&${PROOF_PARAMETER}=${PROOF_METHOD}`;
}

export const dataFolder = (home: string) => join(home, 'cluster');
const passwordFile = (home: string) => join(home, 'password');

/** Runs initdb in `home`. Without a locale in the environment it would choose SQL_ASCII, so both are given. */
export async function createCluster({ home, account, bin }: Cluster, options: readonly string[] = []): Promise<void> {
  await mkdir(dataFolder(home), { mode: 0o700 });
  // It is on disk before there is anything in the database that it opens.
  await writeFile(passwordFile(home), randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
  await Promise.all([dataFolder(home), passwordFile(home)].map((path) => giveTo(account, path)));
  const { code, output } = await runProgram(account, join(bin, 'initdb'), [
    `--pgdata=${dataFolder(home)}`,
    '--username=postgres',
    `--pwfile=${passwordFile(home)}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...options,
  ]);
  if (code === 0) return;
  throw new EmbeddedDatabaseError(
    `The embedded database could not be created (initdb: ${firstComplaint(output)}): set SPS_DATA_DIR to a folder on a local disk with enough space, or set DATABASE_URL.`,
  );
}

async function readPassword(home: string): Promise<string> {
  return readFile(passwordFile(home), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw incompleteError(home);
    throw new EmbeddedDatabaseError(
      `The database in ${home} belongs to another user (${error.message}): run as the user who created it, or set SPS_DATA_DIR to another folder.`,
    );
  });
}

function incompleteError(home: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `${home} is not a complete database: restore it from a backup, or move it away to start with an empty one.`,
  );
}

/** Refuses another user's database, an incomplete one, and one of another major version. */
export async function refuseForeignCluster(home: string, server: ServerPackage): Promise<void> {
  await readPassword(home);
  const found = (await readPlainFile(join(dataFolder(home), 'PG_VERSION')).catch(() => '')).trim();
  if (found === String(server.major)) return;
  if (found === '') throw incompleteError(home);
  throw new EmbeddedDatabaseError(
    `The database in ${home} was created by PostgreSQL ${found}, but this release comes with ${server.major}: dump it while the release that created it is running, move the folder away, start this release and load the dump (docs/operations.md, Upgrades).`,
  );
}
