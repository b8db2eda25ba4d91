// Adds, suspends, resumes and removes the webhook endpoints of the made-up app.
import pino from 'pino';
import { loadConfig } from '../../src/config.ts';
import { addWebhook } from '../../src/webhooks/endpoint-settings.ts';
import type { Dataset } from '../data/datasets.ts';
import { openBenchSession, query, withClient } from '../database.ts';

export async function addEndpoints({ url, app }: Dataset, addresses: readonly string[]): Promise<void> {
  const session = await openBenchSession(url);
  const config = loadConfig({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  const deps = { db: session.db, config, log: pino({ level: 'silent' }), now: () => new Date() };
  for (const address of addresses) await addWebhook(deps, { appId: app.app_id, url: address, verify: false });
  await session.close();
}

/** Suspends all endpoints: they still count as enabled, but their deliveries wait. */
export async function suspendEndpoints({ url }: Dataset): Promise<void> {
  await query(url, "update webhook set state = 'suspended'");
}

/**
 * Resumes all endpoints. Returns when it began to, in milliseconds since 1970 and not counting the connection, which
 * takes longer to make than resuming does.
 */
export async function resumeEndpoints({ url }: Dataset): Promise<number> {
  return withClient(url, async (client) => {
    const began = Date.now();
    await client.query("update webhook set state = 'enabled'");
    await client.query("select pg_notify('webhook_delivery', '')");
    return began;
  });
}

export async function countPending({ url }: Dataset): Promise<number> {
  const [row] = await query(url, "select count(*)::integer as pending from webhook_delivery where state = 'pending'");
  return Number(row?.pending);
}

export async function removeEndpoints({ url }: Dataset): Promise<void> {
  await query(url, 'truncate webhook_delivery, webhook_event, webhook');
}
