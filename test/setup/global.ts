// Once per run: a template database with every migration, from which each test file clones its own (60 ms).
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrateToLatest } from '../../src/db/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the server's maintenance database. */
    postgresUrl: string;
    templateName: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgresUrl = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5433/postgres';
  const templateName = `sps_template_${process.pid}`;
  const admin = new pg.Client({ connectionString: postgresUrl });
  await admin.connect();
  await admin.query(`create database ${templateName}`);
  const url = new URL(postgresUrl);
  url.pathname = templateName;
  await migrateToLatest(url.href);
  project.provide('postgresUrl', postgresUrl);
  project.provide('templateName', templateName);
  return async () => {
    await admin.query(`drop database if exists ${templateName} with (force)`);
    await admin.end();
  };
}
