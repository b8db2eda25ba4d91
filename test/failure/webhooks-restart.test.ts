// The database restarts, and crashes, while two processes take grants and deliver their events.
import pg from 'pg';
import pino from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addAccessLevel, createApp } from '../../src/apps/service.ts';
import { loadConfig } from '../../src/config.ts';
import { createDb } from '../../src/db/client.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { addWebhook } from '../../src/webhooks/endpoint-settings.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { type RestartableServer, startRestartableServer } from './webhooks-postgres.ts';
import {
  drained,
  endProcess,
  expectAllDelivered,
  grantUnderLoad,
  type ServiceProcess,
  startProcess,
} from './webhooks-world.ts';

const GRANTS = 3_000;

let server: RestartableServer;
let receiver: Receiver;
const processes: ServiceProcess[] = [];

beforeEach(async () => {
  server = await startRestartableServer();
  receiver = await startReceiver();
  await migrateToLatest(server.url);
});

afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => endProcess(one, 'SIGTERM')));
  await receiver.close();
  await server.stop();
});

async function addCustomers(appId: string, customers: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(
    `with p as (insert into profile (app_id, customer_user_id, installed_at) select $1, unnest($2::text[]), now() returning *)
     insert into profile_identity (app_id, customer_user_id, profile_id) select app_id, customer_user_id, profile_id from p`,
    [appId, customers],
  );
  await client.end();
}

it('deliveries go on by themselves after the database restarted or crashed', { timeout: 600_000 }, async () => {
  const connect = () =>
    createDb({ connectionString: server.url, max: 2, statementTimeoutMs: 30_000, applicationName: 'test' }, () => {});
  const db = connect();
  const config = loadConfig({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  const deps = { db, config, log: pino({ level: 'silent' }), now: () => new Date() };
  const { app, secret_key: key } = await createApp(deps, { name: 'Test' });
  await addAccessLevel(deps, app.app_id, 'premium');
  await addWebhook(deps, { appId: app.app_id, url: receiver.url });
  receiver.received.length = 0;
  const customers = Array.from({ length: 200 }, (_, i) => `customer-${i}`);
  await addCustomers(app.app_id, customers);
  await db.destroy();
  for (let i = 0; i < 2; i++) processes.push(await startProcess(server.url));

  const isEnough = (begun: number) => begun === GRANTS;
  const load = grantUnderLoad({ processes, key, customers, isEnough, clients: 16, pauseMs: 30 });
  for (const interrupt of [server.restart, server.crash, server.restart]) {
    const before = receiver.received.length;
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(before + 300), { timeout: 60_000 });
    await interrupt();
  }
  const confirmed = await load;
  const after = connect();
  await drained(after, 90_000);
  const { events, repeats } = await expectAllDelivered(after, receiver.received, confirmed);
  await after.destroy();
  expect(confirmed.size).toBe(GRANTS);
  for (const { child } of processes) expect(child.exitCode).toBeNull();
  process.stdout.write(`2 restarts and a crash of the database: ${events} events, ${repeats} repeats\n`);
});
