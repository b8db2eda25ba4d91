// A service with an access level and profiles, receivers, a dispatcher and a clock that the test moves.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { addAccessLevel } from '../../src/apps/service.ts';
import { type Dispatcher, type DispatcherOverrides, startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { addWebhook, type NewWebhook } from '../../src/webhooks/endpoint-settings.ts';
import { type ServiceResponse, startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { type Behaviour, type Receiver, startReceiver } from './receiver.ts';

/** Waits until `check` no longer throws, long enough for a slow machine. */
export function eventually(check: () => unknown): Promise<unknown> {
  return vi.waitFor(check, { timeout: 15_000, interval: 10 });
}

export interface World {
  service: TestService;
  /** Moves the clock of the service and of its dispatchers forward. */
  pass: (seconds: number) => void;
  addProfile: (customerUserId: string) => Promise<string>;
  grant: (customerUserId: string, body?: object) => Promise<ServiceResponse>;
  receive: (behaviour?: Behaviour) => Promise<Receiver>;
  addEndpoint: (url: string, input?: Partial<NewWebhook>) => Promise<{ webhook_id: string; secret: string }>;
  dispatch: (overrides?: DispatcherOverrides) => Dispatcher;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  feed: (query?: string) => Promise<any>;
  /** Log lines with this message. */
  logged: (message: string) => object[];
  /** How many deliveries dispatchers hold. */
  countClaimed: () => Promise<number>;
  /** Resets everything for the next test, which is cheaper than a world of its own. */
  clear: () => Promise<void>;
  close: () => Promise<void>;
}

const GRANT = '/api/v2/server-side-api/purchase/profile/grant/access-level/';

export async function createWorld(env: Record<string, string> = {}): Promise<World> {
  let offsetMs = 0;
  const now = () => new Date(Date.now() + offsetMs);
  const lines: string[] = [];
  const onLog = (line: string) => void lines.push(line);
  const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE: 'true', ...env }, now, onLog });
  const { deps, appId, database, secretKey } = service;
  await addAccessLevel(deps, appId, 'premium');
  const closers: (() => Promise<void>)[] = [];
  async function stop(): Promise<void> {
    for (const close of closers.splice(0)) await close();
  }

  return {
    service,
    pass: (seconds) => {
      offsetMs += seconds * 1000;
    },
    addProfile: (customerUserId) => addProfile(service, customerUserId),
    grant: (customerUserId, body = {}) =>
      service.call('POST', GRANT, {
        key: secretKey,
        headers: { 'service-customer-user-id': customerUserId },
        body: { access_level_id: 'premium', ...body },
      }),
    async receive(behaviour) {
      const receiver = await startReceiver(behaviour);
      closers.push(receiver.close);
      return receiver;
    },
    addEndpoint: (url, input = {}) => addWebhook(deps, { appId, url, verify: false, ...input }),
    dispatch(overrides = {}) {
      const dispatcher = startDispatcher(
        { ...deps, connectionString: database.url },
        { pollMs: 20, deadlineMs: 5_000, random: () => 0.5, ...overrides },
      );
      closers.unshift(dispatcher.stop);
      return dispatcher;
    },
    async feed(query = '') {
      const { json } = await service.call('GET', `/api/v1/client-api/events/${query}`, { key: secretKey });
      return json;
    },
    logged: (message) => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message),
    async countClaimed() {
      const claimed = deps.db.selectFrom('webhook_delivery').select('claim_id').where('claim_id', 'is not', null);
      return (await claimed.execute()).length;
    },
    async clear() {
      await stop();
      await service.noteSecrets();
      const { db } = database;
      await sql`truncate profile, webhook, webhook_event, webhook_delivery restart identity cascade`.execute(db);
      offsetMs = 0;
      lines.length = 0;
    },
    async close() {
      await stop();
      await service.close();
    },
  };
}

/** One world for all tests of a file, reset before each of them. */
export function useWorld(take: (world: World) => void, env: Record<string, string> = {}): void {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(env);
    take(world);
  });
  beforeEach(() => world.clear());
  afterAll(() => world.close());
}
