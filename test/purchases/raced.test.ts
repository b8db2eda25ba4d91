// A chain that an import gives to a profile between a request's look at it and the request's own claim.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProfile } from '../profile/world.ts';
import { holdProfile, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addEndpoint, listEvents, period, setTransaction } from './world.ts';

let service: TestService;
const ids: Record<string, string> = {};
beforeAll(async () => {
  service = await startService();
  await addEndpoint(service);
  for (const customer of ['anna', 'bert']) {
    ids[customer] = (await createProfile(service, { customer })).json.data.profile_id;
  }
});
afterAll(() => service.close());

/** Sets a transaction of anna's, whose chain is given to `owner` while the request waits for anna's profile. */
async function setWhile(owner: string, chain: string) {
  const release = await holdProfile(service, 'anna');
  const answer = setTransaction(
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
  return answer;
}

test('another profile’s: the request is refused, and nothing of it is written', async () => {
  const { status, json } = await setWhile('bert', 'raced-1');
  expect([status, json.errors[0].source]).toEqual([400, 'store_original_transaction_id']);
  expect(await service.database.db.selectFrom('purchase').selectAll().execute()).toEqual([]);
});

test('the same profile’s: the transaction is set, and told once', async () => {
  expect((await setWhile('anna', 'raced-2')).status).toBe(200);
  expect((await listEvents(service)).map(({ event_type }) => event_type)).toEqual(['subscription_started']);
});
