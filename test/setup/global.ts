// Once per run: creates a template database with every migration on a private server, which test files clone in 20 to
// 60 ms. The server's programs are those in the folder TEST_POSTGRES_BIN, or those that come with the service.
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { startTemporaryServer } from './embedded.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the server's maintenance database. */
    postgresUrl: string;
    templateName: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTemporaryServer(process.env.TEST_POSTGRES_BIN);
  const templateName = 'sps_template';
  const admin = new pg.Client({ connectionString: server.url });
  try {
    await admin.connect();
    await admin.query(`create database ${templateName}`);
    const url = new URL(server.url);
    url.pathname = templateName;
    await migrateToLatest(url.href);
  } catch (error) {
    await admin.end();
    await server.stop();
    throw error;
  }
  project.provide('postgresUrl', server.url);
  project.provide('templateName', templateName);
  return async () => {
    await admin.end();
    await server.stop();
  };
}
