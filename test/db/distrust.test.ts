// Root must not trust the folder of the server's user, who may have put a link or a pipe in the place of a PostgreSQL
// file.
import { execFile } from 'node:child_process';
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { giveTo } from '../../src/db/embedded/account.ts';
import { insideFolder, readPlainFile } from '../../src/db/embedded/plain-file.ts';
import { neutraliseStalePid, readLastPort, readPostmaster } from '../../src/db/embedded/postmaster.ts';
import { isRoot } from './embedded-world.ts';

let folder: string;
let pidFile: string;
/** A file of root, outside the folder. */
let precious: string;

beforeEach(async () => {
  const base = await mkdtemp(join(tmpdir(), 'sps-distrust-'));
  folder = join(base, 'cluster');
  await mkdir(folder);
  pidFile = join(folder, 'postmaster.pid');
  precious = join(base, 'precious');
  await writeFile(precious, '1\nprecious\n');
});
afterEach(() => rm(join(folder, '..'), { recursive: true }));

test('nothing is read or written through a link', async () => {
  await symlink(precious, pidFile);
  await expect(readPostmaster(folder)).rejects.toThrow('postmaster.pid is not a plain file');
  await expect(neutraliseStalePid(folder, '1\nprecious\n')).rejects.toThrow('is not a plain file');
  expect(await readFile(precious, 'utf8')).toBe('1\nprecious\n');
  await symlink(precious, join(folder, 'postmaster.opts'));
  expect(await readLastPort(folder)).toBe(0);
});

test('a pipe that nobody writes to is not waited for', async () => {
  await promisify(execFile)('mkfifo', [pidFile]);
  await expect(readPostmaster(folder)).rejects.toThrow('is not a plain file');
});

test.runIf(process.platform === 'linux')(
  'a link that takes the place of a folder that is being read is not followed',
  async () => {
    const [moved, outside] = [join(folder, '..', 'moved'), join(folder, '..', 'outside')];
    await writeFile(join(folder, '1'), 'its own');
    await mkdir(outside);
    await writeFile(join(outside, '1'), 'precious');
    const text = await insideFolder(folder, async (inside) => {
      await rename(folder, moved);
      await symlink(outside, folder);
      return readPlainFile(join(inside, '1'));
    });
    expect(text).toBe('its own');
    await expect(insideFolder(folder, async () => '')).rejects.toThrow('ENOTDIR');
  },
);

test('a stale postmaster.pid is replaced by a new file with the same owner, if it is still the file that was examined', async () => {
  await writeFile(pidFile, '417\n/data/cluster\n');
  await neutraliseStalePid(folder, '418\n');
  expect(await readFile(pidFile, 'utf8')).toBe('417\n/data/cluster\n');
  if (isRoot) await giveTo({ name: 'nobody', ids: { uid: 65534, gid: 65534 } }, folder);
  const before = await stat(pidFile);
  await neutraliseStalePid(folder, '417\n/data/cluster\n');
  const { pid, text } = (await readPostmaster(folder))!;
  expect([pid, text]).toEqual([2_147_483_646, '2147483646\n/data/cluster\n']);
  const after = await stat(pidFile);
  expect(after.ino).not.toBe(before.ino);
  expect([after.uid, after.gid, after.mode & 0o777]).toEqual([before.uid, before.gid, 0o600]);
  expect(await readdir(folder)).toEqual(['postmaster.pid']);
});

test('postmaster.pid stays if it cannot be replaced, and is replaced if an earlier process stopped halfway', async () => {
  await writeFile(pidFile, '417\n/data/cluster\n');
  const fresh = `${pidFile}.stale-${process.pid}.new`;
  await mkdir(fresh);
  await expect(neutraliseStalePid(folder, '417\n/data/cluster\n')).rejects.toThrow();
  expect(await readFile(pidFile, 'utf8')).toBe('417\n/data/cluster\n');
  await rm(fresh, { recursive: true });
  await writeFile(fresh, '2147');
  await neutraliseStalePid(folder, '417\n/data/cluster\n');
  expect(await readFile(pidFile, 'utf8')).toBe('2147483646\n/data/cluster\n');
  expect(await readdir(folder)).toEqual(['postmaster.pid']);
});

test.runIf(isRoot)('giving a folder to a user changes the owner of a link in it, not of its target', async () => {
  const ids = { uid: 65534, gid: 65534 };
  await mkdir(join(folder, 'base'));
  await writeFile(join(folder, 'base', '1'), '');
  await symlink(precious, join(folder, 'base', '2'));
  await giveTo({ name: 'nobody', ids }, folder);
  for (const path of [folder, join(folder, 'base'), join(folder, 'base', '1'), join(folder, 'base', '2')]) {
    expect(await lstat(path), path).toMatchObject(ids);
  }
  expect(await stat(precious)).toMatchObject({ uid: 0 });
});
