// Starts the real service on a real port, with one app that has two keys to call it with. Every response is checked
// against its declaration, and at the end the log is searched for keys and secrets.
import pino from 'pino';
import { Agent, request } from 'undici';
import { type Addresses, buildApp } from '../../src/app.ts';
import { createApp } from '../../src/apps/service.ts';
import { loadConfig } from '../../src/config.ts';
import { createDb } from '../../src/db/client.ts';
import { ONE_RUN } from '../../src/db/server-run.ts';
import type { App, Deps } from '../../src/deps.ts';
import { describeError } from '../../src/log.ts';
import { listRoutes } from '../../src/routes.ts';
import { closeServer } from '../../src/service.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createResponseCheck } from './response-check.ts';
import { expectNoSecrets, listWebhookSecrets, secretPart } from './secrets.ts';

export interface ServiceResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
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
  port: number;
  deps: Deps;
  database: TestDatabase;
  app: App;
  appId: string;
  publicKey: string;
  secretKey: string;
  call: (method: string, path: string, options?: CallOptions) => Promise<ServiceResponse>;
  startDraining: () => void;
  /** Stops serving; `close` does it too. */
  stop: () => Promise<void>;
  /** Notes the secrets of webhooks that are about to be deleted, so that `close` looks for them, too. */
  noteSecrets: () => Promise<void>;
  /** Fails if a key or a secret was logged. */
  close: () => Promise<void>;
}

export interface ServiceOptions {
  env?: Record<string, string>;
  now?: () => Date;
  app?: Parameters<typeof createApp>[1];
  addresses?: Addresses;
  /** Called with every log line, from level debug on. */
  onLog?: (line: string) => void;
  /** A database of the caller's own, with every migration. */
  database?: TestDatabase;
  /** Returns the URL by which the service reaches the database, if not directly. */
  throughProxy?: (databaseUrl: string) => string;
}

function createLog(lines: string[], onLog: ServiceOptions['onLog']) {
  const write = (line: string) => {
    lines.push(line);
    onLog?.(line);
    if (process.env.TEST_LOG) process.stdout.write(line);
  };
  return pino({ level: 'debug', serializers: { err: describeError } }, { write });
}

function connectServiceDb(url: string, max: number, lockTimeoutMs?: number) {
  const timeouts = { statementTimeoutMs: 10_000, lockTimeoutMs };
  const settings = { connectionString: url, max, ...timeouts, applicationName: 'sps-test' };
  return createDb(settings, () => {});
}

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const database = options.database ?? (await createTestDatabase());
  const databaseUrl = options.throughProxy?.(database.url) ?? database.url;
  const db = options.throughProxy ? connectServiceDb(databaseUrl, 10) : database.db;
  const probeDb = connectServiceDb(databaseUrl, 1);
  const lookupDb = connectServiceDb(databaseUrl, 1);
  const groupDb = connectServiceDb(databaseUrl, 2, 250);
  const analyticsDb = connectServiceDb(databaseUrl, 4);
  // Nothing is to be refused because the machine that runs the tests is busy.
  const unlimited = { RATE_LIMIT_ANALYTICS: '0', RATE_LIMIT_SERVER: '0', MAX_LOOP_DELAY_MS: '0' };
  const config = loadConfig({ ...unlimited, ...options.env });
  const lines: string[] = [];
  const log = createLog(lines, options.onLog);
  const pools = { db, lookupDb, groupDb, analyticsDb, probeDb };
  const deps: Deps = { ...pools, serverRun: ONE_RUN, config, log, now: options.now ?? (() => new Date()) };
  const created = await createApp(database, options.app ?? { name: 'Test' });
  const addresses = options.addresses ?? ['base', 'admin'];
  const { app, startDraining } = await buildApp(deps, addresses);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const keys = new Set([created.public_key, created.secret_key]);
  const dispatcher = new Agent({ pipelining: 1, connections: 64 });
  const checkResponse = createResponseCheck(listRoutes(deps).filter(({ address }) => addresses.includes(address)));

  async function call(
    method: string,
    path: string,
    { key, headers = {}, body }: CallOptions = {},
  ): Promise<ServiceResponse> {
    if (key !== undefined) keys.add(key);
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const raw = await request(`${url}${path}`, {
      dispatcher,
      method: method as 'POST',
      headers: {
        ...(key !== undefined && { authorization: `Api-Key ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : isRaw ? (body as string) : JSON.stringify(body),
    });
    const text = await raw.body.text();
    const isJson = text !== '' && String(raw.headers['content-type']).startsWith('application/json');
    const json = isJson ? JSON.parse(text) : undefined;
    const response = { status: raw.statusCode, headers: raw.headers, text, json };
    checkResponse(method, path, response);
    return response;
  }

  const secrets: string[] = [];
  async function noteSecrets(): Promise<void> {
    secrets.push(...(await listWebhookSecrets(database)));
  }

  let stopping: Promise<void> | undefined;
  async function stopOnce(): Promise<void> {
    await closeServer(app);
    const pools = [probeDb, lookupDb, groupDb, analyticsDb, ...(db === database.db ? [] : [db])];
    await Promise.all(pools.map((one) => one.destroy()));
  }
  async function stop(): Promise<void> {
    stopping ??= stopOnce();
    await stopping;
  }

  return {
    url,
    port: Number(new URL(url).port),
    deps,
    database,
    app: created.app,
    appId: created.app.app_id,
    publicKey: created.public_key,
    secretKey: created.secret_key,
    call,
    startDraining,
    stop,
    noteSecrets,
    close: async () => {
      await stop();
      await dispatcher.close();
      await noteSecrets();
      await database.close();
      expectNoSecrets(lines, [...keys].map(secretPart).concat(secrets));
    },
  };
}
