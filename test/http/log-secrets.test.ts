// A whole run (every operation, its errors, failing webhooks, a key rotation, a database that breaks) leaves no key or
// secret in the log, although nothing is redacted in this log.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addAccessLevel, createKey, revokeKey } from '../../src/apps/service.ts';
import { listRoutes } from '../../src/routes.ts';
import { type Dispatcher, startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { addWebhook } from '../../src/webhooks/endpoint-settings.ts';
import { rotateWebhookSecret, testWebhook } from '../../src/webhooks/endpoints.ts';
import { newSecret } from '../../src/webhooks/secrets.ts';
import { GRANT } from '../grants/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { answering, type Receiver, startReceiver } from '../webhooks/receiver.ts';

let service: TestService;
let receiver: Receiver;
let dispatcher: Dispatcher;
const lines: string[] = [];
const encryptionKey = randomBytes(32).toString('hex');
const metricsToken = randomBytes(16).toString('hex');
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({
    onLog: (line) => lines.push(line),
    env: { WEBHOOK_ALLOW_PRIVATE: 'true', SPS_ENCRYPTION_KEY: encryptionKey, METRICS_TOKEN: metricsToken },
  });
  await addProfile(service, 'anna');
  await addAccessLevel(service.deps, service.appId, 'premium');
  const connectionString = service.database.url;
  dispatcher = startDispatcher({ ...service.deps, connectionString }, { pollMs: 20, deadlineMs: 500 });
});
afterAll(async () => {
  await dispatcher.stop();
  await receiver.close();
  await service.close();
});

test('no key, secret, Authorization value or token is in the log of a whole run', { timeout: 60_000 }, async () => {
  const { deps, appId } = service;
  const issued = await Promise.all([
    createKey(deps, { appId, kind: 'public' }),
    createKey(deps, { appId, kind: 'secret' }),
    createKey(deps, { appId, kind: 'secret', scope: 'analytics' }),
  ]);
  const gone = await createKey(deps, { appId, kind: 'secret' });
  await revokeKey(deps, gone.key_id);
  const keys = [service.publicKey, service.secretKey, gone.key, ...issued.map(({ key }) => key)];

  const authorization = `Bearer ${randomBytes(16).toString('hex')}`;
  const webhook = await addWebhook(deps, { appId, url: receiver.url, authorization });
  const rotated = await rotateWebhookSecret(deps, webhook.webhook_id);
  const anna = { 'service-customer-user-id': 'anna' };
  const bodies = [undefined, {}, { access_level_id: 'premium' }, { status: 'organic', customer_user_id: 'anna' }, '{'];

  async function callEverything(): Promise<void> {
    for (const { method, path } of listRoutes(deps)) {
      for (const key of keys) {
        for (const body of method === 'GET' ? [undefined] : bodies) {
          await service.call(String(method), path, { key, headers: anna, body });
        }
      }
    }
  }
  await callEverything();
  await addProfile(service, 'bob');
  const grantTo = (customer: string) =>
    service.call('POST', GRANT, {
      key: service.secretKey,
      headers: { 'service-customer-user-id': customer },
      body: { access_level_id: 'premium' },
    });
  for (const behave of [answering(200), answering(500, `no ${authorization}`), answering(410)]) {
    receiver.behave(behave);
    const { length } = receiver.received;
    expect((await grantTo('bob')).status).toBe(200);
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(length), 10_000);
  }
  await testWebhook(deps, webhook.webhook_id).catch(() => undefined);
  await service.call('GET', '/metrics', { headers: { authorization: `Bearer ${metricsToken}`, via: 'x' } });
  await sql`alter table profile rename to hidden`.execute(service.database.db);
  await grantTo('bob');
  await sql`alter table hidden rename to profile`.execute(service.database.db);

  const log = lines.join('');
  expect(log).toContain('request failed');
  expect(log).toContain('webhook attempt failed');
  expect(lines.length).toBeGreaterThan(100);
  const secrets = [...keys.map((key) => key.split('.')[1] as string), webhook.secret, rotated.secret];
  secrets.push(authorization.slice(7), metricsToken, encryptionKey, new URL(service.database.url).password || 'whsec_');
  for (const secret of secrets) expect(log).not.toContain(secret);
  expect(log).not.toMatch(/_live_[0-9A-Za-z]{8}|whsec_[0-9A-Za-z+/]{8}/);
});

test('in every other test, a service that logs a key, a webhook secret or an Authorization value fails when it closes', async () => {
  const authorization = 'Bearer of-something-long';
  const leaks = [
    (one: TestService) => one.publicKey,
    (one: TestService) => one.secretKey.split('.')[1],
    () => `at ${authorization}`,
    () => newSecret(),
  ];
  for (const leak of leaks) {
    const leaky = await startService();
    const { deps, appId } = leaky;
    await addWebhook(deps, { appId, url: 'https://example.com/', authorization, verify: false });
    deps.log.info({ err: new Error(`no ${leak(leaky)}`) }, 'oops');
    await expect(leaky.close()).rejects.toThrow('the log contains a key or a secret');
  }
});
