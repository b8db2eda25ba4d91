// What can be in the embedded server's way: in each case it works, or ends with one sentence that says what to do.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, cp, lstat, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseAccount } from '../../src/db/embedded/account.ts';
import { getServerPackage, provideBinaries } from '../../src/db/embedded/binaries.ts';
import { canEnter, runProgram } from '../../src/db/embedded/program.ts';
import {
  copyFolder,
  createFolder,
  type Folder,
  forEveryTest,
  isRoot,
  kill,
  leave,
  query,
} from '../db/embedded-world.ts';
import { startProgram } from '../setup/processes.ts';

const STRANGER = { uid: 54_321, gid: 54_321 };
const OTHER_USER = { uid: 65_534, gid: 65_534 };
const checkout = join(import.meta.dirname, '../..');
/** Whether strangers may read the checkout; they may not if it lies in root's home. */
const strangersCanRun = isRoot && (await canEnter({ name: 'stranger', ids: STRANGER }, checkout));

let folder: Folder;
forEveryTest((copy) => {
  folder = copy;
});

const pidFile = () => join(folder.path, 'postgres/cluster/postmaster.pid');

async function crash(): Promise<void> {
  const user = await folder.use('service');
  process.kill((await folder.serverPid()) ?? 0, 'SIGKILL');
  await kill(user);
}

/** Starts a process of the user that runs the server, like one that reuses the server's old process id. */
async function startBystander(): Promise<ChildProcess> {
  const { ids } = await chooseAccount(join(folder.path, 'postgres/cluster'));
  return spawn('sleep', ['60'], { stdio: 'ignore', ...ids });
}

describe('the embedded database', { timeout: 60_000 }, () => {
  it('starts if postmaster.pid names an unrelated process', async () => {
    await crash();
    const bystander = await startBystander();
    const text = await readFile(pidFile(), 'utf8');
    await writeFile(pidFile(), text.replace(/^\d+/, String(bystander.pid)));
    try {
      const { url } = await folder.use('service');
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    } finally {
      bystander.kill();
    }
  });

  it('starts if a loss of power left postmaster.pid empty', async () => {
    await crash();
    await writeFile(pidFile(), '');
    const { url } = await folder.use('service');
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('says so at once if the password beside it is wrong', async () => {
    const user = await folder.use('service');
    await writeFile(join(folder.path, 'postgres/password'), 'another');
    expect(await folder.refusal('cli')).toMatch(/but rejects the login: password authentication failed/);
    await kill(user);
  });

  it('opens a copy that was made while its server ran, not the original', async () => {
    const original = await folder.use('service');
    const copy = await copyFolder(folder);
    try {
      const { url } = await copy.use('service');
      await query(url, 'create table only_in_the_copy ()');
      expect(await query(original.url, `select to_regclass('only_in_the_copy') as found`)).toEqual([{ found: null }]);
    } finally {
      await copy.remove();
    }
  });

  it('refuses a folder whose password is gone', async () => {
    await rm(join(folder.path, 'postgres/password'));
    expect(await folder.refusal('service')).toMatch(/is not a complete database: restore it/);
  });

  it('refuses the data of another major version', async () => {
    await writeFile(join(folder.path, 'postgres/cluster/PG_VERSION'), '17\n');
    const words =
      /created by PostgreSQL 17, but this release comes with 18: dump it while the release .* \(docs\/operations\.md, Upgrades\)\./;
    expect(await folder.refusal('service')).toMatch(words);
  });

  it('refuses a folder that is not a whole database', async () => {
    await rm(join(folder.path, 'postgres/cluster/PG_VERSION'));
    expect(await folder.refusal('service')).toMatch(/is not a complete database: restore it/);
  });

  it('says why the server does not start', async () => {
    await writeFile(join(folder.path, 'postgres/cluster/postgresql.conf'), 'no_such_setting = 1\n', { flag: 'a' });
    expect(await folder.refusal('service')).toMatch(/does not start \(.*configuration file.*\): see .*server\.log/);
  });

  it('says so at once if the server refuses connections because its disk is full', async () => {
    const { url } = await folder.use('service');
    await query(
      url,
      `create function refuse() returns event_trigger language plpgsql as
         $$ begin raise 'No space left on device' using errcode = 'disk_full'; end $$;
       create event trigger refuse on login execute function refuse()`,
    );
    const began = performance.now();
    expect(await folder.refusal('cli')).toMatch(/ is running .* but refuses connections: No space left on device\.$/m);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('says so if the data directory cannot be made', async () => {
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    const user = startProgram('test/db/use-database.js', ['cli', file], {});
    expect(await user.ended).toBe(1);
    expect(user.stdout()).toMatch(/data directory .*file cannot be created .*: set SPS_DATA_DIR/);
  });

  it('runs if install scripts were off: the missing links of libraries are made', async () => {
    const server = await getServerPackage();
    const root = await mkdtemp(join(tmpdir(), 'sps-package-'));
    try {
      await chmod(root, 0o755);
      const isNoLink = async (path: string) => !(await lstat(path)).isSymbolicLink();
      await cp(join(server.root, 'native'), join(root, 'native'), { recursive: true, filter: isNoLink });
      const postgres = join(root, 'native/bin/postgres');
      const account = await chooseAccount();
      expect((await runProgram(account, postgres, ['--version'])).output).toMatch(/shared libraries/);
      expect(await provideBinaries({ ...server, root }, account, join(root, 'home'))).toBe(join(root, 'native/bin'));
    } finally {
      await rm(root, { recursive: true });
    }
  });
});

describe.skipIf(!isRoot)('the embedded database of root', { timeout: 60_000 }, () => {
  it('lies where its user can enter if the data directory is closed to that user', async () => {
    const closed = await createFolder();
    await chmod(closed.path, 0o700);
    try {
      const user = await closed.use('service');
      expect(await query(user.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect(await readlink(join(closed.path, 'postgres'))).toMatch(/^\/var\/(lib|tmp)\/sps-postgres-/);
      await leave(user);
      await leave(await closed.use('cli'));
    } finally {
      await closed.remove();
    }
  });

  it('names the link whose folder is gone', async () => {
    const closed = await createFolder();
    await chmod(closed.path, 0o700);
    try {
      await leave(await closed.use('cli'));
      await rm(await readlink(join(closed.path, 'postgres')), { recursive: true });
      expect(await closed.refusal('cli')).toMatch(
        /is a link to a folder that is gone: bring that folder back, or remove/,
      );
    } finally {
      await closed.remove();
    }
  });

  it.skipIf(!strangersCanRun)('cannot be opened by another user', async () => {
    expect(await folder.refusal('cli', OTHER_USER)).toMatch(
      /belongs to another user .*: run as the user who created it/,
    );
  });

  it.skipIf(!strangersCanRun)('does not run as a user without an entry in /etc/passwd', async () => {
    const fresh = await createFolder();
    try {
      await chmod(fresh.path, 0o777);
      expect(await fresh.refusal('cli', STRANGER)).toMatch(
        /user id 54321, which has no entry in \/etc\/passwd: run as/,
      );
    } finally {
      await fresh.remove();
    }
  });
});
