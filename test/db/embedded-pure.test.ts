// The parts of the embedded server's code that need no server.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { backUp } from '../../src/db/embedded/backup.ts';
import { provideBinaries } from '../../src/db/embedded/binaries.ts';
import { findHome } from '../../src/db/embedded/home.ts';
import { becomeService } from '../../src/db/embedded/lease.ts';
import { isFromAnotherFolder, parsePostmaster, readLastPort } from '../../src/db/embedded/postmaster.ts';
import { firstComplaint } from '../../src/db/embedded/problem.ts';
import { serverSettings, settingArguments } from '../../src/db/embedded/settings.ts';

const GIB = 1024 ** 3;

describe('postmaster.pid', () => {
  it('names process, port and state', () => {
    const text = '417\n/data/cluster\n1763712000\n25226\n\n127.0.0.1\n  2362   13\nready   \n';
    expect(parsePostmaster(text)).toEqual({ text, pid: 417, folder: '/data/cluster', port: 25226, state: 'ready' });
  });

  it('may be half written', () => {
    expect(parsePostmaster('417\n/data/clus')).toMatchObject({ pid: 417, port: 0, state: '' });
    expect(parsePostmaster('')).toMatchObject({ pid: 0, port: 0, state: '' });
  });
});

describe('files of a folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sps-files-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('the port of the last start is read from its last argument, whatever the folder is called', async () => {
    await writeFile(join(folder, 'postmaster.opts'), '/bin/postgres "-D" "/port=5/cluster" "-c" "port=25226"\n');
    expect(await readLastPort(folder)).toBe(25_226);
    expect(await readLastPort(join(folder, 'nowhere'))).toBe(0);
  });

  it('a failed copy of the programs leaves nothing behind', async () => {
    const home = await mkdtemp(join(folder, 'home-'));
    const server = { root: join(folder, 'nowhere'), version: '18.0', major: 18 };
    await expect(provideBinaries(server, { name: 'ours' }, home)).rejects.toThrow('ENOENT');
    expect(await readdir(home)).toEqual([]);
  });

  it('a postmaster.pid may belong to the folder that this one was copied from', async () => {
    const of = (path: string) => parsePostmaster(`417\n${path}\n`);
    await symlink(folder, `${folder}-link`);
    expect(await isFromAnotherFolder(of(folder), folder)).toBe(false);
    expect(await isFromAnotherFolder(of(`${folder}-link`), folder)).toBe(false);
    expect(await isFromAnotherFolder(of(join(folder, 'moved away')), folder)).toBe(false);
    expect(await isFromAnotherFolder(of(tmpdir()), folder)).toBe(true);
    await rm(`${folder}-link`);
  });

  it('a data directory that cannot be read is not taken for one without a database', async () => {
    expect(await findHome(join(folder, 'nowhere'))).toBeUndefined();
    await expect(findHome(join(folder, 'x'.repeat(300)))).rejects.toThrow(/cannot be read \(ENAMETOOLONG/);
  });

  it('a backup is not written into the database itself', async () => {
    await mkdir(join(folder, 'postgres'));
    const database = { dataDir: folder, connectionString: 'postgres://nowhere' };
    const inside = join(folder, 'postgres/cluster/backup');
    await expect(backUp(database, inside)).rejects.toThrow('would be inside the database itself');
    await symlink(folder, `${folder}-link`);
    const linked = join(`${folder}-link`, 'postgres/cluster/backup');
    await expect(backUp(database, linked)).rejects.toThrow('would be inside the database itself');
    await rm(`${folder}-link`);
    expect(existsSync(join(folder, 'postgres/cluster'))).toBe(false);
  });
});

it('a clock that is set forward does not end the wait for a predecessor that was killed', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const answers = [false, true];
  const query = async () => {
    vi.setSystemTime(Date.now() + 3_600_000);
    return { rows: [{ got: answers.shift() }] };
  };
  await becomeService({ query } as unknown as pg.Client, 'data');
  expect(answers).toEqual([]);
});

describe('a complaint', () => {
  it('is the first reason, without its time and process', () => {
    const output = [
      '2026-01-01 00:00:00.000 UTC [7] LOG:  starting PostgreSQL',
      '2026-01-01 00:00:00.000 UTC [9] FATAL:  the database system is starting up',
      '2026-01-01 00:00:00.000 UTC [8] FATAL:  could not extend file: No space left on device',
      '2026-01-01 00:00:00.000 UTC [8] PANIC:  cannot abort transaction 1, it was already committed',
    ];
    expect(firstComplaint(output.join('\n'))).toBe('could not extend file: No space left on device');
  });

  it('is the last line if no reason is marked', () => {
    expect(firstComplaint('one\ntwo\n')).toBe('two');
    expect(firstComplaint('')).toBe('it printed nothing');
  });
});

describe('settings', () => {
  it('follow the memory, within bounds', () => {
    expect(serverSettings(0.25 * GIB)).toMatchObject({
      shared_buffers: '64MB',
      effective_cache_size: '128MB',
      max_wal_size: '2048MB',
    });
    expect(serverSettings(4 * GIB)).toMatchObject({
      shared_buffers: '1024MB',
      effective_cache_size: '2048MB',
      max_wal_size: '4096MB',
    });
    expect(serverSettings(256 * GIB)).toMatchObject({
      shared_buffers: '8192MB',
      maintenance_work_mem: '256MB',
      max_wal_size: '16384MB',
    });
  });

  it('have room for the largest pools that may be configured', () => {
    const { DATABASE_POOL_SIZE, ANALYTICS_POOL_SIZE } = loadConfig({
      DATABASE_POOL_SIZE: '200',
      ANALYTICS_POOL_SIZE: '100',
    });
    const connections = Number(serverSettings(4 * GIB).max_connections);
    expect(connections).toBeGreaterThan(DATABASE_POOL_SIZE + ANALYTICS_POOL_SIZE + 20);
  });

  it('become arguments', () => {
    expect(settingArguments({ fsync: 'off', port: '1' })).toEqual(['-c', 'fsync=off', '-c', 'port=1']);
  });
});
