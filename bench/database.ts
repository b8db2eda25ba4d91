// The databases of the benchmark, in an embedded PostgreSQL of its own in bench/.data with the settings of the service.
import { mkdirSync } from 'node:fs';
import pg from 'pg';
import pino from 'pino';
import { openEmbeddedDatabase } from '../src/db/embedded/embedded.ts';
import { openSession, type Session } from '../src/db/session.ts';

export interface Server {
  /** The URL of its maintenance database. */
  url: string;
  version: string;
  close: () => Promise<void>;
}

/** Starts an embedded server on this folder, or uses the server at `url` if it is given. */
export async function openServer(folder: string, url: string | undefined): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const log = pino({ level: 'warn' });
  const database = url
    ? { connectionString: url, close: async () => undefined }
    : await openEmbeddedDatabase({ dataDir: folder, role: 'service', log });
  const [row] = await query(database.connectionString, 'show server_version');
  const kind = url ? 'given by --database' : 'embedded, with the settings of the service';
  return { url: database.connectionString, version: `${row?.server_version} (${kind})`, close: database.close };
}

/** Does work over a connection, and always closes it: one left open would end the benchmark when the server stops. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export async function query(
  url: string,
  statement: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  return withClient(url, async (client) => (await client.query(statement, values)).rows);
}

export function databaseUrl(server: Pick<Server, 'url'>, name: string): string {
  const url = new URL(server.url);
  url.pathname = name;
  return url.href;
}

export async function exists(server: Server, name: string): Promise<boolean> {
  return (await query(server.url, 'select from pg_database where datname = $1', [name])).length > 0;
}

export async function createDatabase(server: Server, name: string): Promise<string> {
  await query(server.url, `create database ${name}`);
  return databaseUrl(server, name);
}

export async function dropDatabase(server: Server, name: string): Promise<void> {
  await query(server.url, `drop database if exists ${name} with (force)`);
}

const STATEMENT_TIMEOUT_MS = 3_600_000;

/** Opens a connection for work that is not measured. */
export function openBenchSession(connectionString: string): Promise<Session> {
  return openSession({ connectionString, statementTimeoutMs: STATEMENT_TIMEOUT_MS, applicationName: 'sps-bench' });
}
