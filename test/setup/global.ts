// Once per run: a template database with every migration, from which each test file clones its own (20 to 60 ms), on a private
// server. Its programs are those of the folder TEST_POSTGRES_BIN, else those that the service brings.
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { startTemporaryServer } from './embedded.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the server's maintenance database. */
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
