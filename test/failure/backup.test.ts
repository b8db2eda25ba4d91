// `sps backup` and `sps restore`: a copy of the embedded database that is taken under writes and comes back complete.
import { chmod, cp, mkdtemp, readdir, realpath, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { backUp, copyDurably } from '../../src/db/embedded/backup.ts';
import { dataFolder } from '../../src/db/embedded/cluster.ts';
import { restore } from '../../src/db/embedded/restore.ts';
import { createFolder, type Folder, leave, query, type User } from '../db/embedded-world.ts';

let folder: Folder;
let service: User;
let place: string;
beforeAll(async () => {
  folder = await createFolder();
  service = await folder.use('service');
  place = await mkdtemp(join(tmpdir(), 'sps-backups-'));
  await query(
    service.url,
    `create table account as select g as id, 100 as balance from generate_series(1, 50000) g;
     create table confirmed (id bigint primary key)`,
  );
}, 60_000);
afterAll(async () => {
  await folder.remove();
  await rm(place, { recursive: true, force: true });
});

/**
 * Moves money between accounts, checkpoints and switches to new WAL files until it is stopped. `confirmed` and `stop`
 * return how many transactions have committed.
 */
async function keepWriting(url: string): Promise<{ stop: () => Promise<number>; confirmed: () => number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let count = 0;
  let isStopped = false;
  const going = (async () => {
    while (!isStopped) {
      await client.query(`begin; update account set balance = balance - 1 where id % 97 = ${count % 97};
        update account set balance = balance + 1 where id % 97 = ${count % 97};
        insert into confirmed values (${count + 1}); commit`);
      count++;
      if (count % 20 === 0) await client.query('checkpoint');
      if (count % 15 === 0) await client.query('select pg_switch_wal()');
    }
  })();
  return {
    confirmed: () => count,
    stop: async () => {
      isStopped = true;
      await going;
      await client.end();
      return count;
    },
  };
}

describe('a backup', { timeout: 120_000 }, () => {
  it('that is taken under writes comes back consistent, and with everything that was confirmed before it', async () => {
    const writing = await keepWriting(service.url);
    while (writing.confirmed() < 10) await new Promise((resolve) => setTimeout(resolve, 20));
    const before = writing.confirmed();
    const backup = await backUp({ dataDir: folder.path, connectionString: service.url }, join(place, 'first'));
    const after = await writing.stop();
    expect(after).toBeGreaterThan(before);
    expect(backup).toEqual({ folder: join(place, 'first'), bytes: expect.any(Number) });
    expect((await readdir(place)).sort()).toEqual(['first']);

    for (const _ of ['once', 'and again: the backup stays as it is']) {
      const other = await createFolder();
      try {
        await restore(join(place, 'first'), other.path);
        const { url } = await other.use('service');
        const [found] = await query(
          url,
          `select (select count(*)::int from confirmed) as count, (select max(id)::int from confirmed) as last,
             (select sum(balance)::int from account) as money`,
        );
        expect(found?.money).toBe(5_000_000);
        expect(found?.count).toBe(found?.last);
        expect(found?.count).toBeGreaterThanOrEqual(before);
        expect(found?.count).toBeLessThanOrEqual(after);
      } finally {
        await other.remove();
      }
    }
    expect(await query(service.url, 'select slot_name from pg_replication_slots')).toEqual([]);
  });

  it('is refused if something is in its place already, and leaves nothing half-made', async () => {
    const from = { dataDir: folder.path, connectionString: service.url };
    await expect(backUp({ ...from, signal: AbortSignal.abort() }, join(place, 'never'))).rejects.toThrow(
      /the partial copy was removed/,
    );
    await expect(backUp(from, place)).rejects.toThrow(/already exists/);
    const away = { ...from, connectionString: service.url.replace(/:\d+\//, ':9/') };
    await expect(backUp(away, join(place, 'never'))).rejects.toThrow(/ECONNREFUSED/);
    expect((await readdir(place)).filter((name) => name.startsWith('never'))).toEqual([]);
  });

  it('contains what is left of a file that is cut short while it is copied', async () => {
    const [from, to] = [join(place, 'cut'), join(place, 'cut.copy')];
    await writeFile(from, Buffer.alloc(256 * 1024 ** 2, 1));
    const copying = copyDurably(from, to, undefined);
    await vi.waitFor(async () => expect((await stat(to)).size).toBeGreaterThan(0), { interval: 1 });
    await truncate(from, 8_192);
    const bytes = await copying;
    expect(bytes).toBe((await stat(to)).size);
    expect(bytes).toBeLessThan(256 * 1024 ** 2);
    await Promise.all([from, to].map((one) => rm(one)));
  });

  it('does not follow a link in the log', async () => {
    const secret = join(place, 'secret');
    await writeFile(secret, 'nobody else may read this');
    const link = join(dataFolder(await realpath(join(folder.path, 'postgres'))), 'pg_wal', '0000FFFF.history');
    await symlink(secret, link);
    await expect(copyDurably(link, join(place, 'followed'), undefined)).rejects.toThrow(/is not a plain file/);
    const { folder: made } = await backUp(
      { dataDir: folder.path, connectionString: service.url },
      join(place, 'links'),
    );
    await rm(link);
    expect(await readdir(join(dataFolder(made), 'pg_wal'))).not.toContain('0000FFFF.history');
  });

  it('is restored from files that nobody may write, and not at all if it is interrupted', async () => {
    const kept = join(place, 'kept');
    await backUp({ dataDir: folder.path, connectionString: service.url }, kept);
    for (const entry of await readdir(kept, { recursive: true, withFileTypes: true })) {
      await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o500 : 0o400);
    }
    const other = await createFolder();
    await expect(restore(kept, other.path, AbortSignal.abort())).rejects.toThrow(/Interrupted/);
    expect(await readdir(other.path)).toEqual([]);
    await restore(kept, other.path);
    const { url } = await other.use('cli');
    expect(await query(url, 'select sum(balance)::int as money from account')).toEqual([{ money: 5_000_000 }]);
    await other.remove();
    for (const entry of await readdir(kept, { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o700);
    }
  });

  it('is not restored over a database, nor from a folder that is not a backup', async () => {
    await expect(restore(join(place, 'first'), folder.path)).rejects.toThrow(/already holds a database/);
    const other = await createFolder();
    await writeFile(join(other.path, 'something'), '');
    await expect(restore(other.path, other.path)).rejects.toThrow(/is not a complete backup made by/);
    expect(await readdir(other.path)).toEqual(['something']);
    await other.remove();
  });

  it('is not restored from a copy that was cut short', async () => {
    const other = await createFolder();
    const copy = join(place, 'copy');
    for (const [name, cut, words] of [
      [
        'cluster/global/pg_control',
        (path: string) => truncate(path, 1),
        '(%s is missing or has the wrong size): copy it again.',
      ],
      ['cluster/pg_xact/0000', rm, '(%s is missing or has the wrong size): copy it again.'],
      ['password', rm, '(%s is missing or has the wrong size): copy it again.'],
      [
        'files.json',
        (path: string) => truncate(path, 100),
        'is not a complete backup made by `sps backup`: its %s is missing or damaged.',
      ],
      ['files.json', rm, 'is not a complete backup made by `sps backup`: its %s is missing or damaged.'],
    ] as const) {
      await cp(join(place, 'first'), copy, { recursive: true });
      await cut(join(copy, name));
      await expect(restore(copy, other.path)).rejects.toThrow(words.replace('%s', name));
      await rm(copy, { recursive: true });
    }
    expect(await readdir(other.path)).toEqual([]);
    await other.remove();
  });

  it('is not reported as restored if another database was made while it was copied', async () => {
    const other = await createFolder();
    const twice = await Promise.allSettled([1, 2].map(() => restore(join(place, 'first'), other.path)));
    expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(twice.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { message: expect.stringMatching(/already holds a database/) },
    });
    expect(await readdir(other.path)).toEqual(['postgres']);
    await other.remove();
  });

  it('can be taken from a database that nobody uses', async () => {
    await leave(service);
    const command = await folder.use('cli');
    await backUp({ dataDir: folder.path, connectionString: command.url }, join(place, 'cold'));
    await leave(command);
    const other = await createFolder();
    await restore(join(place, 'cold'), other.path);
    const { url } = await other.use('cli');
    expect(await query(url, 'select sum(balance)::int as money from account')).toEqual([{ money: 5_000_000 }]);
    await other.remove();
  });
});
