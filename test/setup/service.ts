// The real app on a real port, with one app of two keys to call it with.
import pino from 'pino';
import { Agent, request } from 'undici';
import { buildApp } from '../../src/app.ts';
import { createApp } from '../../src/apps/service.ts';
import { loadConfig } from '../../src/config.ts';
import type { App, Deps } from '../../src/deps.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
}

export interface CallOptions {
  key?: string;
  headers?: Record<string, string>;
  /** Sent as JSON, or as it is if it is a string or bytes. */
  body?: unknown;
}

export interface TestService {
  url: string;
  deps: Deps;
  database: TestDatabase;
  app: App;
  appId: string;
  publicKey: string;
  secretKey: string;
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  close: () => Promise<void>;
}

export interface ServiceOptions {
  env?: Record<string, string>;
  now?: () => Date;
  app?: Parameters<typeof createApp>[1];
}

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const database = await createTestDatabase();
  const { db } = database;
  const config = loadConfig({ RATE_LIMIT_ANALYTICS: '0', RATE_LIMIT_SERVER: '0', ...options.env });
  const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' });
  const deps: Deps = { db, analyticsDb: db, config, log, now: options.now ?? (() => new Date()) };
  const created = await createApp(deps, options.app ?? { name: 'Test' });
  const { app } = await buildApp(deps);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const dispatcher = new Agent({ pipelining: 1, connections: 64 });

  async function call(method: string, path: string, { key, headers = {}, body }: CallOptions = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const answer = await request(`${url}${path}`, {
      dispatcher,
      method: method as 'POST',
      headers: {
        ...(key !== undefined && { authorization: `Api-Key ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : isRaw ? (body as string) : JSON.stringify(body),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    return { status: answer.statusCode, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  return {
    url,
    deps,
    database,
    app: created.app,
    appId: created.app.app_id,
    publicKey: created.public_key,
    secretKey: created.secret_key,
    call,
    close: async () => {
      await app.close();
      await dispatcher.close();
      await database.close();
    },
  };
}
