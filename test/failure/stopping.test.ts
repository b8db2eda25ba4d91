// How the service stops with requests in progress: told once, told twice, or with a delay for load balancers.
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { MIGRATION_LOCK } from '../../src/db/advisory-locks.ts';
import { createFolder, eventually } from '../db/embedded-world.ts';
import { connectTo } from '../db/one-connection.ts';
import { createCuttableProxy } from '../http/cuttable.ts';
import { openRaw } from '../http/raw.ts';
import { waitForBlocked } from '../setup/locks.ts';
import { statusOf, useMainProgram } from '../setup/main-program.ts';

const { databaseUrl, start, startReady } = useMainProgram();

describe('the service', { timeout: 60_000 }, () => {
  it('finishes requests in progress, even if the signal comes twice at once', async () => {
    const service = await startReady();
    const blocker = new pg.Client({ connectionString: databaseUrl() });
    await blocker.connect();
    await blocker.query('begin; lock table schema_migration in access exclusive mode');
    const answer = statusOf(`${service.url}/readyz`);
    await sleep(300);
    service.child.kill('SIGINT');
    await sleep(50);
    service.child.kill('SIGINT');
    await sleep(300);
    await blocker.query('rollback');
    await blocker.end();
    expect(await answer).toBe(200);
    expect(await service.ended).toBe(0);
  });

  it('ends at once when the signal is repeated after a while', async () => {
    const service = await startReady();
    const blocker = new pg.Client({ connectionString: databaseUrl() });
    await blocker.connect();
    await blocker.query('begin; lock table schema_migration in access exclusive mode');
    const answer = statusOf(`${service.url}/readyz`).catch(() => 'cut off');
    await sleep(300);
    service.child.kill('SIGINT');
    await sleep(2_300);
    service.child.kill('SIGINT');
    expect(await service.ended).toBe(1);
    expect(await answer).toBe('cut off');
    await blocker.end();
  });

  it('is not cut short by a different signal to stop', async () => {
    const service = await startReady({ SHUTDOWN_DELAY_MS: '1500' });
    const begun = performance.now();
    service.child.kill('SIGHUP');
    await sleep(200);
    service.child.kill('SIGTERM');
    await sleep(200);
    service.child.kill('SIGQUIT');
    expect(await service.ended).toBe(0);
    expect(performance.now() - begun).toBeGreaterThan(1_500);
    expect(service.stderr()).toContain('"msg":"stopped"');
  });

  it('ends by the signal of a crash', async () => {
    const service = await startReady();
    service.child.kill('SIGSEGV');
    expect(await service.ended).toBe('SIGSEGV');
  });

  it('ends even if nobody reads its log any more', async () => {
    // Its log is a pipe whose reader has stopped, and gets more than the pipe holds.
    const service = await startReady({ LOG_LEVEL: 'trace' });
    service.child.stderr!.pause();
    for (let i = 0; i < 40; i++) {
      await Promise.all(Array.from({ length: 50 }, () => statusOf(`${service.url}/healthz/${'x'.repeat(150)}`)));
    }
    service.child.kill('SIGTERM');
    const signal = await new Promise((resolve) => service.child.once('exit', (code, by) => resolve(by ?? code)));
    expect(signal).toBe('SIGKILL');
    service.child.stderr!.resume();
    await service.ended;
  });

  it('listens only once on localhost', async () => {
    const service = await startReady({ HOST: 'localhost' });
    expect(new URL(service.url).hostname).toBe('127.0.0.1');
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });

  it('does not wait for ever for a request that never arrives', async () => {
    const service = await startReady({ REQUEST_TIMEOUT_MS: '600000' });
    const client = openRaw(Number(new URL(service.url).port));
    client.send('GET /healthz HTTP/1.1\r\nHost: x\r\n');
    await sleep(500);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    await client.ended;
  });

  /** Starts a service that waits for a lock during startup. By then it handles signals. */
  async function startBlocked(env: Record<string, string> = {}) {
    const blocker = new pg.Client({ connectionString: databaseUrl() });
    await blocker.connect();
    await blocker.query('begin; lock table schema_migration in access exclusive mode');
    const service = start(env);
    const db = connectTo(databaseUrl());
    await waitForBlocked({ database: { db } });
    await db.destroy();
    return { service, blocker };
  }

  it('does not go on with its start when told to end', async () => {
    const { service, blocker } = await startBlocked();
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(service.stderr()).toContain('"msg":"stopped"');
    expect(service.stderr()).not.toContain('listening');
    await blocker.end();
  });

  it('does not wait for its turn to migrate when told to end', async () => {
    const other = new pg.Client({ connectionString: databaseUrl() });
    await other.connect();
    await other.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const service = start();
    await eventually(async () => expect(service.stderr()).toContain('waiting for another process'));
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(service.stderr()).toContain('"msg":"stopped"');
    expect(service.stderr()).not.toContain('listening');
    await other.end();
  });

  it('says so if it cannot wait for what is still starting', async () => {
    const proxy = await createCuttableProxy();
    const { service, blocker } = await startBlocked({ DATABASE_URL: proxy.throughProxy(databaseUrl()) });
    // The service can no longer have its statement cancelled.
    proxy.swallow();
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(1);
    expect(service.stderr()).toMatch(
      /"msg":"stopping".*\n.*"reason":"Error: not stopped within 30 s.*"msg":"exiting before everything has stopped/,
    );
    await proxy.close();
    await blocker.end();
  });

  it('says what it did not wait for when it stops without its database', async () => {
    const proxy = await createCuttableProxy();
    const service = await startReady({ DATABASE_URL: proxy.throughProxy(databaseUrl()) });
    proxy.swallow();
    // By now the clock waits for an answer.
    await sleep(2_000);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(service.stderr()).toMatch(
      /"left":\[[^\]]*"sweeps"\],"msg":"not stopped within 16 s".*\n.*"left":\["db"[^\]]*\],"msg":"not stopped within 3 s"/,
    );
    await proxy.close();
  });

  it('fails readiness before it closes', async () => {
    const service = await startReady({ SHUTDOWN_DELAY_MS: '1500' });
    service.child.kill('SIGTERM');
    await sleep(500);
    expect(await statusOf(`${service.url}/readyz`)).toBe(503);
    expect(await statusOf(`${service.url}/healthz`)).toBe(200);
    expect(await service.ended).toBe(0);
  });
});

describe('the service on its own database', { timeout: 60_000 }, () => {
  it('makes it, and leaves no server behind, even if it is stopped while it starts', async () => {
    const folder = await createFolder();
    try {
      const env = { DATABASE_URL: '', SPS_DATA_DIR: folder.path };
      const hasty = start(env);
      await eventually(async () => expect((await readdir(folder.path)).join()).toMatch(/^postgres/));
      hasty.child.kill('SIGTERM');
      expect(await hasty.ended).toBe(0);
      expect(hasty.stderr()).not.toContain('database migrated');
      expect(await folder.serverPid()).toBeUndefined();

      const service = await startReady(env);
      expect(await statusOf(`${service.url}/readyz`)).toBe(200);
      expect(await folder.serverPid()).toBeTypeOf('number');
      service.child.kill('SIGTERM');
      expect(await service.ended).toBe(0);
      expect(await folder.serverPid()).toBeUndefined();
    } finally {
      await folder.remove();
    }
  });
});
