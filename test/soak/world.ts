// The data of the soak: an app, a webhook, and profiles imported from files, each with an install and a paid period.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { addAccessLevel, createApp } from '../../src/apps/service.ts';
import { loadConfig } from '../../src/config.ts';
import { createDb } from '../../src/db/client.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import type { App } from '../../src/deps.ts';
import { importFile } from '../../src/import/import-file.ts';
import type { Kind } from '../../src/import/kind.ts';
import { PROFILES } from '../../src/import/profiles/kind.ts';
import { TRANSACTIONS } from '../../src/import/transactions/kind.ts';
import { addWebhook } from '../../src/webhooks/endpoint-settings.ts';
import type { SoakReceiver } from './receiver.ts';

const PROFILE_COUNT = 400;
const DAY_MS = 86_400_000;

export interface SoakWorld {
  publicKey: string;
  secretKey: string;
  customers: readonly string[];
}

export function connect(url: string) {
  const settings = { connectionString: url, max: 2, statementTimeoutMs: 60_000, applicationName: 'sps-soak' };
  return createDb(settings, () => {});
}

const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString();

/** A month for 10 USD that began yesterday: mrr is ten times the number of profiles for as long as the soak runs. */
function period(customer_user_id: string) {
  const begun = day(-1);
  return {
    customer_user_id,
    purchase_type: 'subscription',
    store: 'app_store',
    store_product_id: 'monthly',
    store_transaction_id: customer_user_id,
    store_original_transaction_id: customer_user_id,
    price: { country: 'US', currency: 'USD', value: 10 },
    purchased_at: begun,
    originally_purchased_at: begun,
    expires_at: day(29),
    renew_status: true,
  };
}

async function importRecords<T>(kind: Kind<T>, records: readonly object[], options: { url: string; app: App }) {
  const folder = await mkdtemp(join(tmpdir(), 'sps-soak-'));
  const file = join(folder, 'records.ndjson');
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const { rejected } = await importFile(kind, {
    connectionString: options.url,
    app: options.app,
    file,
    now: () => new Date(),
  });
  await rm(folder, { recursive: true });
  if (rejected > 0) throw new Error(`${rejected} records were rejected`);
}

export async function makeWorld(url: string, receiver: SoakReceiver): Promise<SoakWorld> {
  await migrateToLatest(url);
  const db = connect(url);
  try {
    const config = loadConfig({ WEBHOOK_ALLOW_PRIVATE: 'true' });
    const deps = { db, config, log: pino({ level: 'silent' }), now: () => new Date() };
    const { app, public_key, secret_key } = await createApp(deps, { name: 'Soak' });
    await addAccessLevel(deps, app.app_id, 'premium');
    const customers = Array.from({ length: PROFILE_COUNT }, (_, i) => `customer-${i}`);
    const installs = customers.map((customer_user_id) => ({ customer_user_id, installed_at: day(-1) }));
    await importRecords(PROFILES, installs, { url, app });
    await importRecords(TRANSACTIONS, customers.map(period), { url, app });
    const { secret } = await addWebhook(deps, { appId: app.app_id, url: receiver.url, verify: false });
    receiver.trust(secret);
    return { publicKey: public_key, secretKey: secret_key, customers };
  } finally {
    await db.destroy();
  }
}
