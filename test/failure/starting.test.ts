// The service as a process: where it serves, what it survives, and what it says when it cannot start.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TAKES_NO_WRITES } from '../../src/db/server-run.ts';
import { statusOf, useMainProgram } from '../setup/main-program.ts';

const { databaseUrl, start, startReady } = useMainProgram();

describe('the service', () => {
  it('serves charts on ADMIN_PORT alone when it is set', async () => {
    const { url, adminUrl } = await startReady({ ADMIN_PORT: '0' });
    const charts = '/api/v1/client-api/metrics/analytics/';
    expect(await statusOf(`${url}${charts}`, 'POST')).toBe(404);
    expect(await statusOf(`${adminUrl}${charts}`, 'POST')).toBe(401);
    expect(await statusOf(`${adminUrl}/api/v2/web-api/attribution/`, 'POST')).toBe(404);
    expect(await statusOf(`${url}/api/v2/web-api/attribution/`, 'POST')).toBe(401);
  });

  it('survives clients that break off requests that it refuses', async () => {
    const service = await startReady();
    const { port } = new URL(service.url);
    for (let i = 0; i < 30; i++) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(i % 3 === 0 ? 'NO SUCH THING\r\n\r\n' : 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
      await sleep(i);
      socket.resetAndDestroy();
    }
    expect(await statusOf(`${service.url}/healthz`)).toBe(200);
    expect(service.stderr()).not.toMatch(/ECONNRESET|EPIPE/);
  });

  it('says once that its database takes no writes, and is not ready', async () => {
    const url = new URL(databaseUrl());
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    const service = await startReady({ DATABASE_URL: url.href });
    expect(await statusOf(`${service.url}/readyz`)).toBe(503);
    expect(service.stderr().split(TAKES_NO_WRITES)).toHaveLength(2);
  });

  it('names every problem of the configuration', async () => {
    const service = start({ PORT: 'http', LOG_LEVEL: 'loud' });
    expect(await service.ended).toBe(1);
    expect(service.stderr()).toMatch(/PORT must be .*\n.*LOG_LEVEL must be one of/);
    expect(service.stdout()).toBe('');
  });

  it('says so if another program has its port', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const service = start({ PORT: String(port), LOG_LEVEL: 'silent', SHUTDOWN_DELAY_MS: '600000' });
    expect(await service.ended).toBe(1);
    expect(service.stderr()).toBe(
      `Cannot listen on 127.0.0.1:${port} (another program is listening there): set HOST, PORT or ADMIN_PORT to a free address.\n`,
    );
    other.close();
  });

  it('says so if the database does not answer', async () => {
    const service = start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(await service.ended).toBe(1);
    // It is a line of its own, but may come before or after the log's first lines, which are written in blocks.
    expect(service.stderr()).toMatch(/^The database at 127\.0\.0\.1:1 does not answer/m);
  });

  it('writes warnings as lines of its log, not between its lines', async () => {
    const service = start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none?sslmode=require' });
    expect(await service.ended).toBe(1);
    const lines = service.stderr().trim().split('\n');
    const logged = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    expect(lines.length).toBe(logged.length + 1);
    expect(logged).toContainEqual(
      expect.objectContaining({
        level: 40,
        err: expect.objectContaining({ message: expect.stringMatching(/SSL modes/) }),
      }),
    );
  });
});
