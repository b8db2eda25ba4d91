// An import as an operator runs it, on a database of its own, and the records of its files.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createTestDatabase } from '../setup/database.ts';
import { createSps, type Sps } from './sps.ts';

type Counted = 'profile' | 'purchase' | 'fact_install' | 'fact_transaction';

export interface ImportWorld {
  sps: Sps;
  /** The id of its app. */
  app: string;
  folder: string;
  /** Writes a file of records in the folder. Returns its path. */
  write: (name: string, records: readonly object[]) => Promise<string>;
  count: (table: Counted) => Promise<number>;
  close: () => Promise<void>;
}

export function lines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** A purchase of the product that the app has. */
export function purchase(user: string, id: string) {
  return {
    customer_user_id: user,
    purchase_type: 'one_time_purchase',
    store: 'stripe',
    store_product_id: 'coins',
    store_transaction_id: id,
    store_original_transaction_id: id,
    price: { country: 'US', currency: 'USD', value: 1.99 },
    purchased_at: '2025-03-01T00:00:00Z',
  };
}

export async function createImportWorld(): Promise<ImportWorld> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'sps-import-'));
  const sps = createSps({ DATABASE_URL: database.url });
  const { app_id: app } = await sps.json('app', 'create', '--name', 'Import');
  const coins = ['--store', 'stripe', '--product', 'coins', '--duration', 'Lifetime', '--consumable'];
  await sps.json('product', 'add', '--app', app, ...coins);
  return {
    sps,
    app,
    folder,
    async write(name, records) {
      const path = join(folder, name);
      await writeFile(path, lines(records));
      return path;
    },
    async count(table) {
      const { rows } = await sql<{ count: bigint }>`select count(*) from ${sql.table(table)}`.execute(database.db);
      return Number(rows[0]?.count);
    },
    async close() {
      sps.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
