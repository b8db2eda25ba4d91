// doctor, backup, restore and secrets rotate as an operator runs them: the built program, its exit codes, its output.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import pg from 'pg';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MIGRATION_LOCK } from '../../src/db/advisory-locks.ts';
import { createSps, type Ended, ended } from '../cli/sps.ts';
import { createFolder, type Folder } from '../db/embedded-world.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startProgram } from '../setup/processes.ts';

/** Expects success and nothing on standard error. Returns the JSON object that was printed. */
function answerOf({ code, stdout, stderr }: Ended) {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

function expectRefusal(ended: Ended, words: string): void {
  expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(words) });
  expect(ended.stderr).toMatch(/^sps: .*\n$/);
}

describe('on an external database', { timeout: 120_000 }, () => {
  let database: TestDatabase;
  let app: string;
  const run = (args: string[], env: Record<string, string> = {}) =>
    createSps({ DATABASE_URL: database.url, ...env }).run(...args, '--json');
  beforeAll(async () => {
    database = await createTestDatabase();
    app = answerOf(await run(['app', 'create', '--name', 'Shop'])).app_id;
  });
  afterAll(() => database.close());

  const addWebhook = async (env: Record<string, string> = {}) =>
    answerOf(await run(['webhook', 'add', '--app', app, '--url', 'https://example.com/', '--no-verify'], env)).secret;

  it('doctor finds nothing amiss, also in a table for people, and ends with 1 if there is a problem', async () => {
    const { is_well, findings } = answerOf(await run(['doctor']));
    expect(is_well).toBe(true);
    expect(findings).toContainEqual({
      check: 'charts',
      state: 'ok',
      message: expect.any(String),
      figures: expect.anything(),
    });
    const table = await createSps({ DATABASE_URL: database.url }).run('doctor', '--no-charts');
    expect(table).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^check +state +message\ndatabase +ok +/),
    });
    expect(table.stdout).not.toContain('charts');

    await database.db
      .insertInto('schema_migration' as never)
      .values({ name: '9999_later.sql', sha256: '' } as never)
      .execute();
    const ill = await run(['doctor', '--no-charts']);
    expect(ill).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(ill.stdout)).toMatchObject({ is_well: false });
    await database.db
      .deleteFrom('schema_migration' as never)
      .where('name' as never, '=', '9999_later.sql' as never)
      .execute();
  });

  it('a command names the process for which it waits while that one migrates', async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const child = createSps({ DATABASE_URL: database.url }).start('app', 'list', '--json');
    const end = ended(child);
    const [said] = await once(child.stderr as Readable, 'data');
    expect(String(said)).toMatch(/^waiting for another process that is migrating the database \(pid \d+, .*\)\n$/);
    await other.end();
    expect(await end).toMatchObject({ code: 0, stdout: expect.stringContaining('Shop') });
  });

  it.each(['migrate', 'import profiles /nowhere --app x'])('%s ends at one signal while it waits', async (command) => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const child = createSps({ DATABASE_URL: database.url }).start(...command.split(' '));
    const end = ended(child);
    await once(child.stderr as Readable, 'data');
    child.kill('SIGINT');
    const { code, stderr } = await end;
    await other.end();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/\nsps: Interrupted: the next start will continue the migrations\.\n$/),
    });
  });

  it('doctor says so if the database does not answer, and names no password', async () => {
    const { code, stdout, stderr } = await run(['doctor'], { DATABASE_URL: 'postgres://x:a-password@127.0.0.1:1/x' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      is_well: false,
      findings: expect.arrayContaining([
        { check: 'database', state: 'problem', message: expect.stringContaining('ECONNREFUSED 127.0.0.1:1') },
      ]),
    });
    expect(stdout).not.toContain('a-password');
  });

  it('secrets rotate encrypts what is in clear, exchanges the key, and changes nothing if a key is missing', async () => {
    const [first, second] = [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')];
    const secret = await addWebhook();
    const stored = async () => {
      const rows = await database.db.selectFrom('webhook').select('secret').orderBy('created_at').execute();
      return rows.map((row) => row.secret);
    };
    expectRefusal(await run(['secrets', 'rotate']), 'Set SPS_ENCRYPTION_KEY to the new key');
    expect(await stored()).toEqual([secret]);

    const encrypted = answerOf(await run(['secrets', 'rotate'], { SPS_ENCRYPTION_KEY: first }));
    expect(encrypted).toEqual({ key_id: expect.stringMatching(/^[0-9a-f]{8}$/), webhooks: 1, resealed: 1 });
    const [sealed] = await stored();
    expect(sealed).toMatch(new RegExp(`^sealed:1:${encrypted.key_id}:`));

    expectRefusal(await run(['secrets', 'rotate'], { SPS_ENCRYPTION_KEY: second }), 'No secret was re-encrypted');
    expect(await stored()).toEqual([sealed]);
    await addWebhook({ SPS_ENCRYPTION_KEY: first });
    const both = { SPS_ENCRYPTION_KEY: second, SPS_ENCRYPTION_KEY_PREVIOUS: first };
    const exchanged = answerOf(await run(['secrets', 'rotate'], both));
    expect(exchanged).toMatchObject({ webhooks: 2, resealed: 2 });
    for (const one of await stored()) expect(one).toContain(`sealed:1:${exchanged.key_id}:`);
    expect(answerOf(await run(['doctor', '--no-charts'], { SPS_ENCRYPTION_KEY: second }))).toMatchObject({
      is_well: true,
    });
    const lost = await run(['doctor', '--no-charts'], { SPS_ENCRYPTION_KEY: first });
    expect(lost.code).toBe(1);
    expect(JSON.parse(lost.stdout).findings).toContainEqual(
      expect.objectContaining({ check: 'webhook secrets', state: 'problem' }),
    );
  });

  it('backup and restore are refused: they are for the embedded database', async () => {
    for (const command of ['backup', 'restore']) {
      expectRefusal(await run([command, '/nowhere']), 'DATABASE_URL is set: use pg_dump and pg_restore');
    }
  });
});

describe('on the embedded database', { timeout: 120_000 }, () => {
  let folder: Folder;
  let other: Folder;
  let place: string;
  beforeAll(async () => {
    [folder, other] = [await createFolder(), await createFolder()];
    place = await mkdtemp(join(tmpdir(), 'sps-backups-'));
  });
  afterAll(async () => {
    await folder.remove();
    await other.remove();
    await rm(place, { recursive: true, force: true });
  });

  it('app create makes the database; nothing that would take a wrong directory for an empty database does', async () => {
    const nowhere = await createFolder();
    const sps = createSps({ SPS_DATA_DIR: nowhere.path });
    for (const args of [['backup', join(place, 'nothing')], ['doctor'], ['app', 'list']]) {
      expectRefusal(await sps.run(...args, '--json'), `There is no database in ${nowhere.path}`);
    }
    expect(await readdir(nowhere.path)).toEqual([]);
    answerOf(await sps.run('app', 'create', '--name', 'Shop', '--json'));
    expect(answerOf(await sps.run('app', 'list', '--json')).apps).toHaveLength(1);
    await nowhere.remove();
  });

  it('doctor looks at the disk even if the server does not start', async () => {
    const broken = await createFolder();
    const sps = createSps({ SPS_DATA_DIR: broken.path });
    answerOf(await sps.run('app', 'create', '--name', 'Shop', '--json'));
    await rm(join(broken.path, 'postgres/cluster/global/pg_control'));
    const { code, stdout, stderr } = await sps.run('doctor', '--json');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const { is_well, findings } = JSON.parse(stdout);
    expect(is_well).toBe(false);
    expect(findings).toMatchObject([
      { check: 'database', state: 'problem', message: expect.stringContaining('does not start') },
      { check: 'disk', message: expect.stringContaining('GiB are free in the data directory') },
    ]);
    await broken.remove();
  });

  /** Starts a command on its own data directory. It reads a pipe that has no writer, so that it can be interrupted. */
  async function interrupt(args: (pipe: string, app: string) => string[], ending: string) {
    const own = await createFolder();
    const sps = createSps({ SPS_DATA_DIR: own.path });
    const { app_id } = answerOf(await sps.run('app', 'create', '--name', 'Shop', '--json'));
    const pipe = join(own.path, `pipe.${ending}`);
    execFileSync('mkfifo', [pipe]);
    const child = sps.start(...args(pipe, app_id));
    const end = ended(child);
    // Resolves once the command opens the pipe, too.
    const feed = await open(pipe, 'w');
    const isServerRunning = async () => (await own.serverPid()) !== undefined;
    expect(await isServerRunning()).toBe(true);
    return { child, end, feed, isServerRunning, remove: own.remove };
  }

  it('Ctrl-C, which npm sends once more, ends an import in order and stops the server', async () => {
    const { child, end, feed, ...own } = await interrupt(
      (pipe, app) => ['import', 'profiles', pipe, '--app', app],
      'ndjson',
    );
    for (const signal of ['SIGINT', 'SIGINT'] as const) child.kill(signal);
    const { code, stderr } = await end;
    await feed.close();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('run the same import again') });
    expect(await own.isServerRunning()).toBe(false);
    await own.remove();
  });

  it('a signal ends other commands at once, and the server is stopped', async () => {
    const { child, end, feed, ...own } = await interrupt((pipe) => ['rate', 'import', pipe], 'csv');
    child.kill('SIGHUP');
    const { code, stdout, stderr } = await end;
    await feed.close();
    expect({ code, stdout, stderr }).toEqual({ code: 130, stdout: '', stderr: 'sps: Interrupted.\n' });
    expect(await own.isServerRunning()).toBe(false);
    await own.remove();
  });

  async function serve({ path }: Folder) {
    const program = startProgram('dist/main.js', [], { SPS_DATA_DIR: path, PORT: '0', LOG_LEVEL: 'fatal' });
    const [, url] = await program.printed(/^ready: (\S+)\n/);
    const statusWith = async (key: string) => {
      const headers = { authorization: `Api-Key ${key}`, 'service-customer-user-id': 'nobody' };
      const { statusCode, body } = await request(`${url}/api/v2/server-side-api/profile/`, { headers });
      await body.dump();
      return statusCode;
    };
    const stop = async () => {
      program.child.kill('SIGTERM');
      expect(await program.ended).toBe(0);
    };
    return { statusWith, stop };
  }

  it('a backup or a restore that cannot be written says where, and leaves nothing behind', async () => {
    const service = await serve(folder);
    const made = join(place, 'friday');
    const target = await mkdtemp(join(tmpdir(), 'sps-full-'));
    // If we are root, another user runs the server.
    await chmod(target, 0o711);
    // A limit on the size of files stands in for a full disk.
    const confined = (SPS_DATA_DIR: string, ...args: string[]) => {
      const command = ['-c', 'ulimit -f 1000; exec "$@"', 'sh', process.execPath, 'dist/cli.js', ...args];
      const { status, stderr } = spawnSync('sh', command, { env: { PATH: process.env.PATH, SPS_DATA_DIR } });
      return { code: status, stderr: String(stderr) };
    };
    const refusal = (folder: string) => ({
      code: 1,
      stderr: `sps: Cannot write ${folder}: EFBIG: file too large, write. What was written has been removed.\n`,
    });
    try {
      answerOf(await createSps({ SPS_DATA_DIR: folder.path }).run('backup', made, '--json'));
      expect(confined(folder.path, 'backup', join(target, 'monday'))).toEqual(refusal(join(target, 'monday')));
      expect(confined(target, 'restore', made)).toEqual(refusal(target));
      expect(await readdir(target)).toEqual([]);
    } finally {
      await service.stop();
      await rm(target, { recursive: true });
      await rm(made, { recursive: true });
    }
  });

  it('a backup of the running service, restored elsewhere, serves and accepts its keys', async () => {
    const sps = createSps({ SPS_DATA_DIR: folder.path });
    const elsewhere = createSps({ SPS_DATA_DIR: other.path });
    const monday = join(place, 'monday');
    const service = await serve(folder);
    try {
      const created = await sps.run('app', 'create', '--name', 'Shop', '--json');
      const { secret_key } = answerOf(created);
      expect(await service.statusWith(secret_key)).toBe(404);

      expect(answerOf(await sps.run('backup', monday, '--json'))).toEqual({
        folder: monday,
        bytes: expect.any(Number),
      });
      expectRefusal(await sps.run('backup', monday, '--json'), `${monday} already exists`);
      const tuesday = await sps.run('backup', join(place, 'tuesday'));
      expect(tuesday).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Backed up to .*tuesday \(\d+ MiB\)/) });
      expect((await readdir(place)).sort()).toEqual(['monday', 'tuesday']);

      expectRefusal(await sps.run('restore', monday, '--json'), `${folder.path} already holds a database`);
      expectRefusal(await elsewhere.run('restore', place, '--json'), 'is not a complete backup made by');
      expect(answerOf(await elsewhere.run('restore', monday, '--json'))).toEqual({ data_dir: other.path });
      const restored = await serve(other);
      expect(await restored.statusWith(secret_key)).toBe(404);
      expect(await restored.statusWith(`${secret_key.slice(0, -4)}zzzz`)).toBe(401);
      const { findings } = answerOf(await elsewhere.run('doctor', '--no-charts', '--json'));
      expect(findings).toContainEqual(
        expect.objectContaining({ check: 'disk', state: expect.not.stringMatching('unknown') }),
      );
      await restored.stop();
      expect(await other.serverPid()).toBeUndefined();
    } finally {
      await service.stop();
    }
  });
});
