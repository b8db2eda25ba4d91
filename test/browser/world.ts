// A real service with the demo's people, an app in Berlin's time zone, and webhooks that have been delivered.
import { addAccessLevel, createKey } from '../../src/apps/service.ts';
import { PRODUCTS } from '../../src/demo/market.ts';
import { simulate } from '../../src/demo/simulate.ts';
import { startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { addWebhook } from '../../src/webhooks/endpoint-settings.ts';
import { addProducts, importProfiles, importTransactions } from '../analytics/import.ts';
import { startService, type TestService } from '../setup/service.ts';
import { answering, startReceiver } from '../webhooks/receiver.ts';

const PEOPLE = 1_200;
export const GRANT = '/api/v2/server-side-api/purchase/profile/grant/access-level/';
export const CHARTS = '/api/v1/client-api/metrics/analytics/';
const ZONE = 'Europe/Berlin';

export interface World {
  service: TestService;
  /** A secret key with the scope `analytics`. */
  key: string;
  /** Sends a request of our own to the operation and returns what it answers. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  ask: (body: object, zone?: string) => Promise<any>;
  close: () => Promise<void>;
}

/** Waits until nothing is pending, so that the feed shows the outcome of the deliveries. */
async function settleDeliveries({ deps, database }: TestService): Promise<void> {
  const dispatcher = startDispatcher({ ...deps, connectionString: database.url }, { pollMs: 20 });
  const isPending = () =>
    deps.db.selectFrom('webhook_delivery').select('state').where('state', '=', 'pending').execute();
  while ((await isPending()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await dispatcher.stop();
}

async function makeEvents(service: TestService): Promise<void> {
  const receiver = await startReceiver(answering(200));
  await addWebhook(service.deps, { appId: service.appId, url: receiver.url, verify: false });
  for (const customerUserId of ['user-1', 'user-2', 'user-3']) {
    await service.call('POST', GRANT, {
      key: service.secretKey,
      headers: { 'service-customer-user-id': customerUserId },
      body: { access_level_id: 'premium' },
    });
  }
  await settleDeliveries(service);
  await receiver.close();
}

export async function createWorld(): Promise<World> {
  const service = await startService({
    env: { WEBHOOK_ALLOW_PRIVATE: 'true' },
    app: { name: 'Demo', timezone: ZONE },
  });
  const lives = [...simulate({ seed: 1, profiles: PEOPLE, until: service.deps.now() })];
  await addAccessLevel(service.deps, service.appId, 'premium');
  await addProducts(service, PRODUCTS);
  await importProfiles(
    service,
    lives.map(({ profile }) => profile),
  );
  await importTransactions(
    service,
    lives.flatMap(({ transactions }) => transactions),
  );
  await makeEvents(service);
  const { key } = await createKey(service.deps, { appId: service.appId, kind: 'secret', scope: 'analytics' });
  return {
    service,
    key,
    async ask(body, zone) {
      const headers = zone === undefined ? {} : { 'service-tz': zone };
      const { json, text } = await service.call('POST', CHARTS, { key, body, headers });
      return json?.data ?? text;
    },
    close: service.close,
  };
}

/** Returns the first and the last of `count` days that end today in a zone, or `before` days earlier. */
export function lastDays(count: number, { zone = ZONE, before = 0 } = {}): [string, string] {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date());
  const day = (shift: number) => new Date(Date.parse(today) + shift * 86_400_000).toISOString().slice(0, 10);
  return [day(1 - count - before), day(-before)];
}
