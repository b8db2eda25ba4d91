// npm run demo: the service with sample data, a receiver for its webhooks, and requests to try.
import type { Logger } from 'pino';
import { type Config, loadConfig } from '../config.ts';
import { describeFailure } from '../failure.ts';
import { runUntilStopped } from '../lifecycle.ts';
import { createLog } from '../log.ts';
import { unlessRefused } from '../operator-error.ts';
import { type Service, startService } from '../service.ts';
import { addWebhook } from '../webhooks/endpoint-settings.ts';
import { getWebhook, removeWebhook } from '../webhooks/endpoints.ts';
import { greet } from './greeting.ts';
import { loadPeople, provideApp, provideKeys } from './load.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type DemoFolder, openDemoFolder } from './state.ts';

const PEOPLE = 5_000;

const print = (text: string) => void process.stdout.write(`${text}\n`);

async function provideWebhook(
  { deps }: Service,
  folder: DemoFolder,
  { appId, receiver }: { appId: string; receiver: Receiver },
): Promise<void> {
  const { webhook } = folder.state;
  const isKnown = webhook && (await unlessRefused(getWebhook(deps, webhook.webhook_id)));
  if (isKnown && webhook.port === receiver.port) return receiver.trust(webhook.secret);
  if (isKnown) await removeWebhook(deps, webhook.webhook_id);
  const { webhook_id, secret } = await addWebhook(deps, { appId, url: receiver.url, verify: false });
  await folder.save({ webhook: { webhook_id, secret, port: receiver.port } });
  receiver.trust(secret);
}

async function prepare(
  service: Service,
  folder: DemoFolder,
  { receiver, ending }: { receiver: Receiver; ending: AbortSignal },
): Promise<void> {
  const app = await provideApp(service, folder);
  await loadPeople(service, folder, { app, count: PEOPLE, signal: ending });
  await provideWebhook(service, folder, { appId: app.app_id, receiver });
  const keys = await provideKeys(service, folder, app);
  const { baseUrl, adminUrl } = service;
  print(greet({ baseUrl, adminUrl, receiverUrl: receiver.url, until: folder.state.until ?? '', ...keys }));
}

async function startDemo(config: Config, log: Logger, ending: AbortSignal) {
  const folder = await openDemoFolder(config.SPS_DATA_DIR);
  const receiver = await startReceiver(folder.state.webhook ?? { port: 0 }, print);
  const service = await startService(config, log, ending);
  const stop = async () => {
    await service.stop();
    await receiver.close();
  };
  try {
    await prepare(service, folder, { receiver, ending });
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

try {
  // The receiver is on this machine, to which webhooks are not sent otherwise.
  const config: Config = { ...loadConfig(), WEBHOOK_ALLOW_PRIVATE: true };
  const log = await createLog(config.LOG_LEVEL);
  await runUntilStopped(config, log, (ending) => startDemo(config, log, ending));
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exitCode = 1;
}
