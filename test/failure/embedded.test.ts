// One embedded server for all processes of a data directory: the first starts it, the last stops it, and none is left
// behind.
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../src/db/embedded/postmaster.ts';
import { createFolder, eventually, type Folder, forEveryTest, kill, leave, query } from '../db/embedded-world.ts';

let folder: Folder;
forEveryTest((copy) => {
  folder = copy;
});

describe('the embedded database', { timeout: 60_000 }, () => {
  it('is UTF-8, asks for its password and listens on loopback only', async () => {
    const { url } = await folder.use('service');
    const [settings] = await query(
      url,
      `select current_setting('server_encoding') as encoding, current_setting('listen_addresses') as addresses,
        current_setting('unix_socket_directories') as sockets, current_setting('fsync') as fsync`,
    );
    expect(settings).toEqual({ encoding: 'UTF8', addresses: '127.0.0.1', sockets: '', fsync: 'on' });
    await expect(query(url.replace(/:[^:@]*@/, ':wrong@'), 'select 1')).rejects.toThrow(/password/);
    const mode = (await stat(join(folder.path, 'postgres/password'))).mode & 0o777;
    expect(mode).toBe(0o600);
  });

  it('keeps its data and its address from one start to the next', async () => {
    const first = await folder.use('service');
    await query(first.url, 'create table kept as select 42 as answer');
    await leave(first);
    expect(await folder.serverPid()).toBeUndefined();
    const second = await folder.use('service');
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('can be used by commands while the service runs', async () => {
    const service = await folder.use('service');
    const command = await folder.use('cli');
    expect(command.url).toBe(service.url);
    await leave(command);
    expect(await query(service.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is stopped by the last process, not by the one that started it', async () => {
    const command = await folder.use('cli');
    const pid = await folder.serverPid();
    const service = await folder.use('service');
    await leave(command);
    expect(await folder.serverPid()).toBe(pid);
    await leave(service);
    expect(await folder.serverPid()).toBeUndefined();
  });

  it('outlives the service while a command still works', async () => {
    const service = await folder.use('service');
    const command = await folder.use('cli');
    await leave(service);
    expect(await query(command.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await leave(command);
    expect(await folder.serverPid()).toBeUndefined();
  });

  it('tells a second service which one is running', async () => {
    const service = await folder.use('service');
    const words = await folder.refusal('service');
    expect(words).toContain(`Another service is already running on the data directory ${folder.path}`);
    expect(words).toContain(`process ${service.child.pid}`);
    expect(await query(service.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is taken over at once after kill -9 of the service, with all that was committed', async () => {
    const first = await folder.use('service');
    await query(first.url, 'create table kept as select 42 as answer');
    const pid = await folder.serverPid();
    await kill(first);
    const second = await folder.use('service');
    expect(await folder.serverPid()).toBe(pid);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await leave(second);
    await eventually(async () => expect(isAlive(pid ?? 0)).toBe(false));
  });

  it('recovers after kill -9 of service and server', async () => {
    const first = await folder.use('service');
    await query(first.url, 'create table kept as select 42 as answer');
    process.kill((await folder.serverPid()) ?? 0, 'SIGKILL');
    await kill(first);
    const second = await folder.use('service');
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('comes back at the same address if it is killed under the service', async () => {
    const { url } = await folder.use('service');
    const pid = (await folder.serverPid()) ?? 0;
    process.kill(pid, 'SIGKILL');
    await eventually(() => query(url, 'select 1'));
    expect(await folder.serverPid()).not.toBe(pid);
    expect(await folder.refusal('service')).toContain('Another service is already running');
  });

  it('is made once if four processes begin together, and stopped once they are gone', async () => {
    const fresh = await createFolder();
    try {
      const users = await Promise.all((['cli', 'service', 'cli', 'cli'] as const).map((role) => fresh.use(role)));
      expect(new Set(users.map(({ url }) => url)).size).toBe(1);
      expect(await readdir(fresh.path)).toEqual(['postgres']);
      await Promise.all(users.map(leave));
      expect(await fresh.serverPid()).toBeUndefined();
      expect(existsSync(join(fresh.path, 'postgres/cluster/postmaster.pid'))).toBe(false);
    } finally {
      await fresh.remove();
    }
  });
});
