// A database with one app, and files that are imported into it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp, type NewApp } from '../../src/apps/service.ts';
import type { App } from '../../src/deps.ts';
import { importFile, type Summary } from '../../src/import/import-file.ts';
import type { Kind } from '../../src/import/kind.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

type Counts = Pick<Summary, 'read' | 'written' | 'unchanged' | 'rejected'>;

export interface World {
  database: TestDatabase;
  app: App;
  /** Writes a file of this name and content and returns its path. */
  file: (name: string, content: string | Buffer) => Promise<string>;
  profiles: (...records: object[]) => Promise<Counts>;
  transactions: (...records: object[]) => Promise<Counts>;
  importAs: <T>(kind: Kind<T>, file: string) => Promise<Counts>;
  /** Like `importAs`, but returns the whole summary. */
  summaryOf: <T>(kind: Kind<T>, file: string) => Promise<Summary>;
  profileIdOf: (customerUserId: string) => Promise<string>;
  /** What the last import of the file of this name rejected. */
  rejects: (name: string) => Promise<{ line: number; reason: string; record?: unknown; text?: string }[]>;
  close: () => Promise<void>;
}

/** A month of `ann`'s subscription, and the next. */
export const MONTH = {
  customer_user_id: 'ann',
  purchase_type: 'subscription',
  store: 'app_store',
  store_product_id: 'monthly',
  store_transaction_id: 'a1',
  store_original_transaction_id: 'a1',
  price: { country: 'US', currency: 'USD', value: 10 },
  purchased_at: '2025-01-09T12:00:00.000001Z',
  originally_purchased_at: '2025-01-09T12:00:00Z',
  expires_at: '2025-02-09T12:00:00Z',
  renew_status: true,
};
export const RENEWAL = {
  ...MONTH,
  store_transaction_id: 'a2',
  purchased_at: '2025-02-09T12:00:00Z',
  expires_at: '2025-03-09T12:00:00Z',
};

export const NOW = new Date('2026-06-01T12:00:00.000Z');

export function toNdjson(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** What charts count of the transactions, in the order of purchase. */
export function listFacts({ database: { db } }: World) {
  return db.selectFrom('fact_transaction').selectAll().orderBy('purchased_at').execute();
}

export async function createWorld(newApp: Partial<NewApp> = {}): Promise<World> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'sps-import-'));
  const { app } = await createApp(database, { name: 'Import', ...newApp });

  async function file(name: string, content: string | Buffer): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }
  function summaryOf<T>(kind: Kind<T>, path: string): Promise<Summary> {
    return importFile(kind, { connectionString: database.url, app, file: path, now: () => NOW });
  }
  async function importAs<T>(kind: Kind<T>, path: string): Promise<Counts> {
    const { read, written, unchanged, rejected } = await summaryOf(kind, path);
    return { read, written, unchanged, rejected };
  }

  return {
    database,
    app,
    file,
    importAs,
    summaryOf,
    profiles: async (...records) => importAs(PROFILES, await file('profiles.ndjson', toNdjson(records))),
    transactions: async (...records) => importAs(TRANSACTIONS, await file('transactions.ndjson', toNdjson(records))),
    profileIdOf: async (customerUserId) => {
      const profiles = database.db.selectFrom('profile').select('profile_id');
      return (await profiles.where('customer_user_id', '=', customerUserId).executeTakeFirstOrThrow()).profile_id;
    },
    rejects: async (name) => {
      const text = await readFile(join(folder, `${name}.rejects.ndjson`), 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
    close: async () => {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
