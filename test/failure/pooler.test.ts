// A real PgBouncer in front of the database: in session mode it is as good as the server; one that shares sessions is
// refused before it leaves anything in them. Skipped if PgBouncer is not installed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { chooseAccount } from '../../src/db/embedded/account.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { SHARES_SESSIONS, sharesSessions } from '../../src/db/shared-sessions.ts';
import { createSps } from '../cli/sps.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { type Program, startProgram } from '../setup/processes.ts';

const PGBOUNCER = '/usr/sbin/pgbouncer';

describe.skipIf(!existsSync(PGBOUNCER))('a pooler', { timeout: 120_000 }, () => {
  let database: TestDatabase;
  let folder: string;
  const running: Pick<Program, 'child'>[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'sps-pooler-'));
    // If we are root, the pooler runs as another user, who must be able to pass through.
    await chmod(folder, 0o711);
  });
  afterEach(async () => {
    for (const { child } of running.splice(0)) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  });
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  async function findPort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    return port;
  }

  async function hasBegun(child: ChildProcess): Promise<void> {
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (text) => {
        said += text;
        if (said.includes('process up')) resolve();
      });
      child.on('error', reject).on('exit', () => reject(new Error(said)));
    });
  }

  /** Starts a pooler with these settings. Returns the address of the database through it. */
  async function by(settings: Record<string, string | number>): Promise<string> {
    const url = new URL(database.url);
    const port = await findPort();
    const way = { host: url.hostname, port: url.port || '5432', user: url.username, password: url.password };
    const lines = [
      '[databases]',
      `* = ${Object.entries(way)
        .map(([name, value]) => (value ? `${name}=${decodeURIComponent(value)}` : ''))
        .join(' ')}`,
      '[pgbouncer]',
      ...Object.entries({
        listen_addr: '127.0.0.1',
        listen_port: port,
        auth_type: 'any',
        unix_socket_dir: '',
        ...settings,
      }).map(([name, value]) => `${name} = ${value}`),
    ];
    const file = join(folder, `${port}.ini`);
    await writeFile(file, lines.join('\n'));
    // Like PostgreSQL, it does not run as root.
    const { ids } = await chooseAccount(join(folder, 'nothing'));
    const child = spawn(PGBOUNCER, [file], { stdio: ['ignore', 'ignore', 'pipe'], ...ids });
    running.push({ child });
    await hasBegun(child);
    return `postgres://sps@127.0.0.1:${port}${url.pathname}`;
  }

  /** Has the pooler at this address read other settings; clients that are connected stay so. */
  async function change(address: string, pool_mode: string): Promise<void> {
    const file = join(folder, `${new URL(address).port}.ini`);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/^pool_mode = .*$/m, `pool_mode = ${pool_mode}`));
    for (const { child } of running) if (child.spawnargs.includes(file)) child.kill('SIGHUP');
  }

  async function examine(DATABASE_URL: string): Promise<{ is_well: boolean; findings: { message: string }[] }> {
    const { stdout } = await createSps({ DATABASE_URL }).run('doctor', '--json');
    return JSON.parse(stdout);
  }

  async function countLocks(): Promise<number> {
    const { rows } = await sql`
      select from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and datname = current_database()`.execute(database.db);
    return rows.length;
  }

  it.each(['transaction', 'statement'])('in %s mode is refused, and no lock is left behind it', async (pool_mode) => {
    const DATABASE_URL = await by({ pool_mode });
    await expect(migrateToLatest(DATABASE_URL)).rejects.toThrow(SHARES_SESSIONS);
    const service = startProgram('dist/main.js', [], { DATABASE_URL, PORT: '0' });
    running.push(service);
    expect(await service.ended).toBe(1);
    expect(service.stderr().split('\n')).toContain(SHARES_SESSIONS);
    const doctor = await examine(DATABASE_URL);
    expect(doctor.is_well).toBe(false);
    expect(doctor.findings[0]).toEqual({ check: 'database', state: 'problem', message: SHARES_SESSIONS });
    expect(await countLocks()).toBe(0);
  });

  it('in session mode is as good as the server', async () => {
    const DATABASE_URL = await by({ pool_mode: 'session', default_pool_size: 60 });
    const service = startProgram('dist/main.js', [], { DATABASE_URL, PORT: '0' });
    running.push(service);
    await service.printed(/^ready: /);
    expect(await examine(DATABASE_URL)).toMatchObject({ is_well: true });
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });

  it('that shares sessions for a while costs a running service nothing but 503', async () => {
    const DATABASE_URL = await by({ pool_mode: 'session', default_pool_size: 60 });
    const service = startProgram('dist/main.js', [], { DATABASE_URL, PORT: '0' });
    running.push(service);
    const [, base] = await service.printed(/^ready: (\S+)/);
    const { secret_key } = await createSps({ DATABASE_URL: database.url }).json('app', 'create', '--name', 'Pooler');
    const customers = Array.from({ length: 8 }, (_, n) => `customer-${n}`);
    const write = (id: string) =>
      fetch(`${base}/api/v2/server-side-api/profile/`, {
        method: 'POST',
        headers: {
          authorization: `Api-Key ${secret_key}`,
          'content-type': 'application/json',
          'service-customer-user-id': id,
        },
        body: '{}',
      }).then(({ status }) => status);
    const seen = new Set<number>();
    const writeAll = async () => {
      const statuses = await Promise.all(customers.map(write));
      for (const status of statuses) seen.add(status);
      return statuses;
    };
    const soon = { timeout: 20_000, interval: 20 };
    await vi.waitFor(async () => expect(new Set(await writeAll())).toEqual(new Set([200])), soon);
    await change(DATABASE_URL, 'transaction');
    await vi.waitFor(async () => expect(await writeAll()).toContain(503), soon);
    await change(DATABASE_URL, 'session');
    await vi.waitFor(async () => expect(new Set(await writeAll())).toEqual(new Set([200])), soon);
    expect([...seen].sort()).toEqual([200, 503]);
  });

  it('in session mode that cleans nothing keeps no lock of migrations', async () => {
    await migrateToLatest(await by({ pool_mode: 'session', server_reset_query: '' }));
    expect(await countLocks()).toBe(0);
  });

  it.each([
    ['takes sessions in turn', { server_round_robin: 1 }],
    ['cleans each before it is lent again', { server_reset_query_always: 1 }],
    ['has a single one', { default_pool_size: 1 }],
  ])('that shares sessions is recognised even if it %s', async (_what, settings) => {
    const url = await by({ pool_mode: 'transaction', ...settings });
    for (let time = 0; time < 10; time++) expect(await sharesSessions(url)).toBe(true);
  });

  it('that has no session left is not waited for by commands, nor when the service starts', async () => {
    const DATABASE_URL = await by({ pool_mode: 'session', default_pool_size: 1 });
    const other = new pg.Client({ connectionString: DATABASE_URL });
    await other.connect();
    await other.query('select 1');
    const words =
      'The database accepted the connection but answered nothing for 10 s: does it hang, or has a pooler in DATABASE_URL no session left?';
    const service = startProgram('dist/main.js', [], { DATABASE_URL, PORT: '0', LOG_LEVEL: 'fatal' });
    running.push(service);
    expect(await createSps({ DATABASE_URL }).run('app', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: `sps: ${words}\n`,
    });
    expect(await service.ended).toBe(1);
    expect(service.stderr()).toBe(`${words}\n`);
    await other.end();
    expect(await createSps({ DATABASE_URL }).run('app', 'list')).toMatchObject({ code: 0 });
  });

  it('in session mode with a single session is not mistaken for one that shares it', async () => {
    expect(await sharesSessions(await by({ pool_mode: 'session', default_pool_size: 1 }))).toBe(false);
  });
});
