// The commands in docs/operations.md that copy an external database, run as they stand while the service uses it. Skipped
// if the programs of PostgreSQL are not installed.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROOF_PARAMETER } from '../../src/config/database-address.ts';
import { createSps } from '../cli/sps.ts';
import { startTemporaryServer } from '../setup/embedded.ts';
import { type Program, startProgram } from '../setup/processes.ts';

const PLACES = '/usr/lib/postgresql';
const versions = existsSync(PLACES) ? readdirSync(PLACES).filter((name) => Number(name) >= 15) : [];
const bin = versions.map((name) => join(PLACES, name, 'bin')).find((path) => existsSync(join(path, 'pg_dump')));

const CHART = {
  chart_id: 'revenue',
  period_unit: 'month',
  segmentation: 'country',
  filters: { date: ['2025-01-01', '2025-12-31'] },
};

describe.skipIf(!bin)('an external database', { timeout: 120_000 }, () => {
  let server: Awaited<ReturnType<typeof startTemporaryServer>>;
  let folder: string;
  const started: Program[] = [];

  beforeAll(async () => {
    server = await startTemporaryServer(bin);
    folder = await mkdtemp(join(tmpdir(), 'sps-dump-'));
    await query('postgres', "create role sps login password 'owner'");
  });
  afterAll(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await server.stop();
    await rm(folder, { recursive: true });
  });

  function urlOf(database: string): string {
    const url = new URL(server.url);
    url.pathname = database;
    // Only the programs of PostgreSQL 16 and later know this parameter.
    url.searchParams.delete(PROOF_PARAMETER);
    return url.href;
  }

  /** Connects as a role that owns the database and nothing else. */
  function ownedUrlOf(database: string): string {
    return Object.assign(new URL(urlOf(database)), { username: 'sps', password: 'owner' }).href;
  }

  async function query(database: string, statement: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: urlOf(database) });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  async function start(file: string, databaseUrl: string, ready: RegExp) {
    const program = startProgram(file, [], { DATABASE_URL: databaseUrl, SPS_DATA_DIR: folder, PORT: '0' });
    started.push(program);
    await program.printed(ready);
    return { ...program, url: /http:\/\/127\.0\.0\.1:\d+/.exec(program.stdout())?.[0] ?? '' };
  }

  async function post(url: string, key: string, body: object, headers = {}) {
    const authorization = `Api-Key ${key}`;
    const options = {
      method: 'POST' as const,
      headers: { ...headers, authorization, 'content-type': 'application/json' },
    };
    const response = await request(url, { ...options, body: JSON.stringify(body) });
    expect(response.statusCode).toBe(200);
    // biome-ignore lint/suspicious/noExplicitAny: charts and profiles
    return ((await response.body.json()) as any).data;
  }

  /** Counts the rows of tables that no background work changes. */
  async function countRows(database: string) {
    const tables = [
      'profile',
      'profile_identity',
      'purchase',
      'fact_install',
      'fact_transaction',
      'api_key',
      'webhook',
    ];
    const counts = tables.map((name) => `(select count(*)::int from ${name}) as ${name}`);
    return (await query(database, `select ${counts.join()}`))[0];
  }

  /** Runs the commands of docs/operations.md as if pasted: no shell option ends them early. */
  async function paste(env: Record<string, string>) {
    const text = await readFile('docs/operations.md', 'utf8');
    const commands = /## Backup of an external database\n\n```sh\n(.*?)```/s.exec(text)?.[1] ?? 'exit 1';
    const PATH = `${bin}:${process.env.PATH}`;
    return promisify(execFile)('sh', ['-c', commands], { cwd: folder, env: { PATH, ...env } });
  }

  it('is not replaced by an empty one if it cannot be dumped', async () => {
    const addresses = { NEW_SERVER_URL: urlOf('postgres'), NEW_DATABASE_URL: urlOf('postgres') };
    await expect(paste({ DATABASE_URL: urlOf('nowhere'), ...addresses })).rejects.toThrow(/"nowhere" does not exist/);
    expect(await query('postgres', "select datname from pg_database where datname = 'sps'")).toEqual([]);
  });

  it('is dumped under the running service, restored, and serves', async () => {
    await query('postgres', 'create database old');
    const demo = await start('dist/demo/main.js', urlOf('old'), /Press Ctrl-C to stop\./);
    const key = /secret_live_\w+\.\w+/.exec(demo.stdout())?.[0] ?? '';
    const charts = '/api/v1/client-api/metrics/analytics/';
    const before = await post(demo.url + charts, key, CHART);

    const addresses = { NEW_SERVER_URL: urlOf('postgres'), NEW_DATABASE_URL: ownedUrlOf('sps') };
    await paste({ DATABASE_URL: urlOf('old'), ...addresses });
    expect(await countRows('sps')).toEqual(await countRows('old'));
    demo.child.kill('SIGTERM');
    expect(await demo.ended).toBe(0);

    const service = await start('dist/main.js', ownedUrlOf('sps'), /^ready: /);
    const after = await post(service.url + charts, key, CHART);
    expect(before.revenue.value).toBeGreaterThan(1_000);
    expect(after).toEqual(before);
    const granting = '/api/v2/server-side-api/purchase/profile/grant/access-level/';
    const headers = { 'service-customer-user-id': 'user-1' };
    const profile = await post(service.url + granting, key, { access_level_id: 'premium', expires_at: null }, headers);
    expect(profile.access_levels.premium.expires_at).toBeNull();
    const { code, stdout } = await createSps({ DATABASE_URL: ownedUrlOf('sps') }).run('doctor', '--no-charts');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^migrations +ok/m) });
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});
