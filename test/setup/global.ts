// Once per run: a template database with every migration, from which each test file clones its own (60 ms). On the server
// of TEST_DATABASE_URL, else on a private one.
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
  const given = process.env.TEST_DATABASE_URL;
  const server = given ? { url: given, stop: async () => {} } : await startTemporaryServer();
  const templateName = `sps_template_${process.pid}`;
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
    await admin.query(`drop database if exists ${templateName} with (force)`);
    await admin.end();
    await server.stop();
  };
}
