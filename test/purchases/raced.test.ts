// What can happen while a request is in progress: an import gives its chain to a profile, or its period begins.
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportDueProfiles } from '../../src/purchases/due-loop.ts';
import { createProfile } from '../profile/world.ts';
import { holdProfile, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { addEndpoint, inDays, listEvents, period, setTransaction } from './world.ts';

let service: TestService;
const ids: Record<string, string> = {};
beforeAll(async () => {
  service = await startService();
  await addEndpoint(service);
  await addAccessLevel(service, 'gold');
  await addProduct(service, 'gold monthly', { access_level_id: 'gold' });
  for (const customer of ['anna', 'bert', 'cleo']) {
    ids[customer] = (await createProfile(service, { customer })).json.data.profile_id;
  }
});
afterAll(() => service.close());

/** Sets a transaction for anna, and gives its chain to `owner` while the request waits for anna's profile. */
async function setWhile(owner: string, chain: string) {
  const release = await holdProfile(service, 'anna');
  const response = setTransaction(
    service,
    'anna',
    period({ store_original_transaction_id: chain, store_transaction_id: chain }),
  );
  await waitForBlocked(service);
  await service.database.db
    .insertInto('purchase_chain')
    .values({
      app_id: service.appId,
      profile_id: ids[owner]!,
      store: 'app_store',
      store_original_transaction_id: chain,
    })
    .execute();
  await release();
  return response;
}

test('if an import gives the chain to another profile, the request is refused, and nothing of it is written', async () => {
  const { status, json } = await setWhile('bert', 'raced-1');
  expect([status, json.errors[0].source]).toEqual([400, 'store_original_transaction_id']);
  expect(await service.database.db.selectFrom('purchase').selectAll().execute()).toEqual([]);
});

test('if an import gives the chain to the same profile, the transaction is set, and reported once', async () => {
  expect((await setWhile('anna', 'raced-2')).status).toBe(200);
  expect((await listEvents(service)).map(({ event_type }) => event_type)).toEqual(['subscription_started']);
});

test('a period that begins meanwhile is reported as it was, and then as begun, each with its own date', async () => {
  const begins = new Date(Date.now() + 2_000).toISOString();
  const chain = { store_transaction_id: 'raced-3', store_original_transaction_id: 'raced-3' };
  const coming = { ...chain, store_product_id: 'gold monthly', purchased_at: begins, originally_purchased_at: begins };
  const held = await service.database.db.startTransaction().execute();
  await sql`lock table purchase in share row exclusive mode`.execute(held);
  const response = setTransaction(service, 'cleo', period({ ...coming, expires_at: inDays(30) }));
  await waitForBlocked(service);
  await setTimeout(Date.parse(begins) - Date.now() + 100);
  await held.commit().execute();
  expect((await response).status).toBe(200);
  await reportDueProfiles(service.deps);
  const reported = (await listEvents(service, ids.cleo)).filter(
    ({ event_type }) => event_type === 'access_level_updated',
  );
  const at = begins.replace('Z', '000+0000');
  expect(reported.map(({ payload }) => [payload.event_datetime < at, payload.event_properties.is_active])).toEqual([
    [true, false],
    [false, true],
  ]);
});
