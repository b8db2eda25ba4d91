// Runs the built service in processes of a test file's own, on a database of its own.
import { request } from 'undici';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { type Program, startProgram } from './processes.ts';

export interface MainProgram {
  /** The URL of the database, which exists while tests run. */
  databaseUrl: () => string;
  start: (env?: Record<string, string>) => Program;
  /** Resolves with the URLs of the service once it has printed them. */
  startReady: (env?: Record<string, string>) => Promise<Program & { url: string; adminUrl: string | undefined }>;
}

/** Processes that a test has started and left running are killed after it. */
export function useMainProgram(): MainProgram {
  let database: TestDatabase;
  const running: Program[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => {
    for (const { child } of running.splice(0)) child.kill('SIGKILL');
  });
  afterAll(() => database.close());

  function start(env: Record<string, string> = {}): Program {
    const service = startProgram('dist/main.js', [], { DATABASE_URL: database.url, PORT: '0', ...env });
    running.push(service);
    return service;
  }
  return {
    databaseUrl: () => database.url,
    start,
    async startReady(env) {
      const service = start(env);
      const [, url = '', adminUrl] = await service.printed(/^ready: (\S+?)(?:, admin (\S+))?\n/);
      return { ...service, url, adminUrl };
    },
  };
}

export async function statusOf(url: string, method: 'GET' | 'POST' = 'GET'): Promise<number> {
  const { statusCode, body } = await request(url, { method });
  await body.dump();
  return statusCode;
}
