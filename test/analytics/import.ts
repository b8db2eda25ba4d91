// Gives a test service products, and profiles and transactions from files, as `sps import` does.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { configureProducts, type NewProduct } from '../../src/apps/catalogue.ts';
import { createApp, type NewApp } from '../../src/apps/service.ts';
import type { DB } from '../../src/db/types.ts';
import { refreshMoves, refreshTotals } from '../../src/facts/totals.ts';
import { importFile, type Summary } from '../../src/import/import-file.ts';
import type { Kind } from '../../src/import/kind.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import type { TestService } from '../setup/service.ts';

export type Records = readonly object[];

/** An app of a test service, as far as tests use it. */
export type Home = Pick<TestService, 'database' | 'deps' | 'call' | 'app' | 'secretKey'>;

/** Adds another app to the same service: an empty world for a generated history. */
export async function addApp({ database, deps, call }: TestService, values: NewApp): Promise<Home> {
  const { app, secret_key } = await createApp(deps, values);
  return { database, deps, call, app, secretKey: secret_key };
}

async function importRecords<T>(home: Home, kind: Kind<T>, records: Records): Promise<Summary> {
  const folder = await mkdtemp(join(tmpdir(), 'sps-analytics-'));
  try {
    const file = join(folder, 'records.ndjson');
    await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const { database, app, deps } = home;
    return await importFile(kind, { connectionString: database.url, app, file, now: deps.now });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function expectAllAccepted({ read, rejected }: Summary, records: Records): void {
  if (read !== records.length || rejected > 0) throw new Error(`${rejected} of ${read} records were rejected`);
}

export async function importProfiles(home: Home, profiles: Records): Promise<void> {
  expectAllAccepted(await importRecords(home, PROFILES, profiles), profiles);
}

export async function importTransactions(home: Home, transactions: Records): Promise<Summary> {
  const summary = await importRecords(home, TRANSACTIONS, transactions);
  expectAllAccepted(summary, transactions);
  return summary;
}

export async function addProducts(home: Home, products: readonly NewProduct[]): Promise<void> {
  await configureProducts(home.deps, home.app.app_id, products);
}

/** The only purchase of customer `u`, for 5 USD. */
export const COINS = {
  customer_user_id: 'u',
  purchase_type: 'one_time_purchase',
  store: 'stripe',
  store_product_id: 'coins',
  store_transaction_id: 't',
  store_original_transaction_id: 't',
  price: { country: 'US', currency: 'USD', value: 5 },
  purchased_at: '2025-01-10T00:00:00Z',
};

/** Adds all facts to the totals, `batch` at a time, and all moves to other labels. */
export async function totalAll(db: Kysely<DB>, batch?: number): Promise<void> {
  while ((await refreshTotals(db, batch)).count > 0);
  await refreshMoves(db);
}

export const CHARTS_PATH = '/api/v1/client-api/metrics/analytics/';

/** Asks for a chart; `headers` can name a zone. */
export function askChart(home: Home, body: unknown, headers: Record<string, string> = {}) {
  return home.call('POST', CHARTS_PATH, { key: home.secretKey, body, headers });
}
