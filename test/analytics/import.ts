// Brings profiles, products and transactions into a test service by the way of files, as `sps import` does.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configureProducts, type NewProduct } from '../../src/apps/catalogue.ts';
import { importFile, type Kind, type Summary } from '../../src/import/import-file.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import type { TestService } from '../setup/service.ts';

export type Records = readonly object[];

async function importRecords<T>(service: TestService, kind: Kind<T>, records: Records): Promise<Summary> {
  const folder = await mkdtemp(join(tmpdir(), 'sps-analytics-'));
  try {
    const file = join(folder, 'records.ndjson');
    await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const { database, app, deps } = service;
    return await importFile(kind, { connectionString: database.url, app, file, now: deps.now });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function demandAll({ read, rejected }: Summary, records: Records): void {
  if (read !== records.length || rejected > 0) throw new Error(`${rejected} of ${read} records were rejected`);
}

export async function importProfiles(service: TestService, profiles: Records): Promise<void> {
  demandAll(await importRecords(service, PROFILES, profiles), profiles);
}

export async function importTransactions(service: TestService, transactions: Records): Promise<Summary> {
  const summary = await importRecords(service, TRANSACTIONS, transactions);
  demandAll(summary, transactions);
  return summary;
}

export async function addProducts(service: TestService, products: readonly NewProduct[]): Promise<void> {
  await configureProducts(service.deps, service.appId, products);
}

export const CHARTS_PATH = '/api/v1/client-api/metrics/analytics/';

/** Asks for a chart; `headers` may name a zone. */
export function askChart(service: TestService, body: unknown, headers: Record<string, string> = {}) {
  return service.call('POST', CHARTS_PATH, { key: service.secretKey, body, headers });
}
