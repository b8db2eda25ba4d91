// How the service stops while requests are under way, told once, twice or with a delay for load balancers.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { type Program, startProgram } from '../setup/processes.ts';

let database: TestDatabase;
const running: Program[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});
afterAll(() => database.close());

async function startReady(env: Record<string, string> = {}) {
  const service = startProgram('dist/main.js', [], { DATABASE_URL: database.url, PORT: '0', ...env });
  running.push(service);
  const [, url = ''] = await service.printed(/^ready: (\S+)\n/);
  return { ...service, url };
}

const statusOf = async (url: string) => {
  const { statusCode, body } = await request(url);
  await body.dump();
  return statusCode;
};

describe('the service', { timeout: 60_000 }, () => {
  it('finishes what is under way, also when the signal comes twice at once', async () => {
    const service = await startReady();
    const blocker = new pg.Client({ connectionString: database.url });
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
    const blocker = new pg.Client({ connectionString: database.url });
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

  it('fails readiness before it closes', async () => {
    const service = await startReady({ SHUTDOWN_DELAY_MS: '1500' });
    service.child.kill('SIGTERM');
    await sleep(500);
    expect(await statusOf(`${service.url}/readyz`)).toBe(503);
    expect(await statusOf(`${service.url}/healthz`)).toBe(200);
    expect(await service.ended).toBe(0);
  });
});
