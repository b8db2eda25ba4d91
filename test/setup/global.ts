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
    /** Of the names of the run's databases. */
    databasePrefix: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  const server = given ? { url: given, stop: async () => {} } : await startTemporaryServer();
  const prefix = `sps_test_${process.pid}_`;
  const templateName = `${prefix}template`;
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
  project.provide('databasePrefix', prefix);
  return async () => {
    if (given) await dropAll(admin, prefix);
    await admin.end();
    await server.stop();
  };
}

/**
 * At the end, not file by file: ext4 looks past every file that was deleted in the last minutes for each that is made, and a
 * database has five hundred.
 */
async function dropAll(admin: pg.Client, prefix: string): Promise<void> {
  const { rows } = await admin.query('select datname from pg_database where starts_with(datname, $1)', [prefix]);
  for (const { datname } of rows) await admin.query(`drop database ${datname} with (force)`);
}
