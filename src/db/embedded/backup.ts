// Backs up the embedded database while it is in use (PostgreSQL's "low-level" base backup: the server ships without
// pg_basebackup). Files are copied while they change; the write-ahead log copied with them makes them consistent.
import { lstat, mkdir, mkdtemp, open, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type pg from 'pg';
import { createClient } from '../client-class.ts';
import { dataFolder } from './cluster.ts';
import { writeFileList } from './file-list.ts';
import { findHome } from './home.ts';
import { insideFolder, openPlainFile } from './plain-file.ts';
import { EmbeddedDatabaseError, explainWriteFailure } from './problem.ts';
import { syncFolder } from './sync-folder.ts';

/** Folders that are copied empty: their contents belong to this run of the server. */
const EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const EXCLUDED =
  /^(postmaster\.(pid|opts)|pgsql_tmp.*|pg_internal\.init.*|backup_label(\.old)?|tablespace_map(\.old)?)$/;
const SEGMENT = /^[0-9A-F]{24}$/;
const SLOT = 'sps_backup';

export interface Backup {
  folder: string;
  bytes: number;
}

const CHUNK_BYTES = 256 * 1024;

/** Throws if the operator has interrupted. */
function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new EmbeddedDatabaseError('Interrupted: the partial copy was removed.');
}

/**
 * Copies one file durably, to a file of our own, and returns its size in bytes. A file that is gone by now is not
 * missed, as the log has its removal. Node's own copying would wait for ever for the rest of a file that is truncated
 * meanwhile, as vacuum does.
 */
export async function copyDurably(from: string, to: string, signal: AbortSignal | undefined): Promise<number> {
  const source = await openPlainFile(from).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!source) return 0;
  try {
    const target = await open(to, 'wx', 0o600);
    try {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      let bytes = 0;
      for (;;) {
        throwIfInterrupted(signal);
        const { bytesRead } = await source.read(chunk);
        if (bytesRead === 0) break;
        await target.writeFile(chunk.subarray(0, bytesRead));
        bytes += bytesRead;
      }
      await target.sync();
      return bytes;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

interface Copying {
  isTop?: boolean;
  signal?: AbortSignal | undefined;
}

async function copyFolder(from: string, to: string, { isTop = true, signal }: Copying): Promise<number> {
  await mkdir(to, { mode: 0o700 });
  let bytes = 0;
  await insideFolder(from, async (inside) => {
    for (const entry of await readdir(inside, { withFileTypes: true })) {
      if (EXCLUDED.test(entry.name)) continue;
      const [source, target] = [join(inside, entry.name), join(to, entry.name)];
      if (entry.isFile()) bytes += await copyDurably(source, target, signal);
      else if (isTop && EMPTY.has(entry.name)) await makeEmpty(source, target);
      else if (entry.isDirectory()) bytes += await copyFolder(source, target, { isTop: false, signal });
      else throw unsupportedEntryError(await realpath(inside), entry.name);
    }
  });
  await syncFolder(to);
  return bytes;
}

function unsupportedEntryError(folder: string, name: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `${join(folder, name)} is neither a file nor a folder: back this database up with pg_dump.`,
  );
}

/** Makes the folder without its files; pg_wal keeps its own folders, which are empty too. */
async function makeEmpty(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  if (basename(from) !== 'pg_wal') return;
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isDirectory()) await mkdir(join(to, entry.name), { mode: 0o700 });
  }
}

interface Segments {
  first: string;
  last: string;
  signal: AbortSignal | undefined;
}

async function copyLog(from: string, to: string, { first, last, signal }: Segments): Promise<number> {
  let bytes = 0;
  await insideFolder(from, async (inside) => {
    for (const entry of await readdir(inside, { withFileTypes: true })) {
      const { name } = entry;
      const isNeeded = (SEGMENT.test(name) && name >= first && name <= last) || name.endsWith('.history');
      if (isNeeded && entry.isFile()) bytes += await copyDurably(join(inside, name), join(to, name), signal);
    }
  });
  await syncFolder(to);
  return bytes;
}

/** Copies the cluster between start and stop of a backup. The slot keeps the log from being recycled meanwhile. */
async function copyRunning(
  client: pg.Client,
  { home, target, signal }: { home: string; target: string; signal: AbortSignal | undefined },
): Promise<number> {
  const [from, to] = [dataFolder(home), dataFolder(target)];
  const queryRow = async (statement: string) => (await client.query(statement)).rows[0];
  await queryRow(`select pg_create_physical_replication_slot('${SLOT}', true, true)`).catch(
    (error: { code?: string }) => {
      if (error.code !== '42710') throw error;
      throw new EmbeddedDatabaseError('Another backup of this database is running: wait until it has finished.');
    },
  );
  const { first } = await queryRow(`select pg_walfile_name(pg_backup_start('sps backup', true)) as first`);
  let bytes = await copyFolder(from, to, { signal });
  const { last, labelfile } = await queryRow(
    'select pg_walfile_name(lsn) as last, labelfile from pg_backup_stop(false)',
  );
  await writeFile(join(to, 'backup_label'), labelfile, { mode: 0o600, flush: true });
  bytes += await copyLog(join(from, 'pg_wal'), join(to, 'pg_wal'), { first, last, signal });
  await syncFolder(to);
  return bytes;
}

/** Resolves the links of a path, the end of which need not exist yet. */
async function resolveLinks(path: string): Promise<string> {
  return realpath(path).catch(async () => join(await resolveLinks(dirname(path)), basename(path)));
}

/** Writes a backup to a folder that must not exist. The database may be in use. If aborted, leaves nothing behind. */
export async function backUp(
  { dataDir, connectionString, signal }: { dataDir: string; connectionString: string; signal?: AbortSignal },
  to: string,
): Promise<Backup> {
  const folder = resolve(to);
  const home = await findHome(dataDir);
  if (!home) throw new EmbeddedDatabaseError(`There is no database in ${dataDir}.`);
  if (await lstat(folder).catch(() => undefined)) {
    throw new EmbeddedDatabaseError(`${folder} already exists: choose a folder that does not exist yet.`);
  }
  if ((await resolveLinks(folder)).startsWith(join(home, '/'))) {
    throw new EmbeddedDatabaseError(`${folder} would be inside the database itself: choose a folder elsewhere.`);
  }
  await mkdir(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${folder}.unfinished-`);
  // One session from start to stop: the backup ends with it, and so does the slot.
  const client = createClient({ connectionString, application_name: 'sps backup' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const bytes = await copyRunning(client, { home, target: unfinished, signal });
    await writeFile(join(unfinished, 'password'), await readFile(join(home, 'password')), { mode: 0o600, flush: true });
    throwIfInterrupted(signal);
    await writeFileList(unfinished);
    await syncFolder(unfinished);
    await rename(unfinished, folder);
    await syncFolder(dirname(folder));
    return { folder, bytes };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw explainWriteFailure(error, folder);
  } finally {
    await client.end();
  }
}
