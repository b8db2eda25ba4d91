// Grants that arrive at the same time are committed together (docs/decisions/0002), but each is answered as if it were
// alone.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addEndpoint } from '../purchases/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';
import { grant } from './world.ts';

const CUSTOMERS = Array.from({ length: 40 }, (_, number) => `customer-${number}`);

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  await addEndpoint(service);
  for (const customer of ['anna', 'bert', ...CUSTOMERS]) await addProfile(service, customer);
});
afterAll(() => service.close());

function grantTo(customer: string, level = 'premium') {
  return grant(service, { access_level_id: level }, { 'service-customer-user-id': customer });
}

/** Returns, in order, the transaction ids in the events about the customer's grants. */
async function listNotifiedGrants(customer: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select payload->'event_properties'->>'transaction_id' as id from webhook_event
    where customer_user_id = ${customer} order by sequence`.execute(service.database.db);
  return rows.map(({ id }) => id);
}

const grantIdOf = (response: Awaited<ReturnType<typeof grant>>) =>
  response.json.data.access_levels.premium.store_transaction_id;

test('grants of one group each get their own profile or error, and every grant is reported in one event', async () => {
  const toNoUuid = () => grant(service, { access_level_id: 'premium' }, { 'service-profile-id': 'no uuid' });
  const between: ReturnType<typeof grant>[] = [];
  const responses = await Promise.all([
    ...CUSTOMERS.map((customer, index) => {
      if (index % 10 === 5) between.push(toNoUuid());
      return grantTo(customer);
    }),
    grantTo('nobody'),
    grantTo('anna', 'unknown'),
    toNoUuid(),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([...CUSTOMERS.map(() => 200), 404, 400, 404]);
  expect((await Promise.all(between)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  for (const [index, customer] of CUSTOMERS.entries()) {
    const response = responses[index]!;
    expect(response.json.data.customer_user_id).toBe(customer);
    expect(await listNotifiedGrants(customer)).toEqual([grantIdOf(response)]);
  }
  expect(await listNotifiedGrants('anna')).toEqual([]);
});

test('grants to one profile take effect one after the other', async () => {
  const responses = await Promise.all(Array.from({ length: 8 }, () => grantTo('anna')));
  const granted = responses.map(grantIdOf);
  const reported = await listNotifiedGrants('anna');
  expect(new Set(reported).size).toBe(8);
  expect([...reported].sort()).toEqual([...granted].sort());
  const stored = await service.database.db
    .selectFrom('access_grant')
    .select('grant_id')
    .where('grant_id', 'in', reported)
    .execute();
  expect(stored).toEqual([{ grant_id: reported.at(-1) }]);
});

test('a profile locked by another transaction does not delay the others', async () => {
  let bert: ReturnType<typeof grantTo> | undefined;
  await service.database.db.transaction().execute(async (trx) => {
    await sql`select from profile where customer_user_id = 'bert' for no key update`.execute(trx);
    bert = grantTo('bert');
    const others = await Promise.all(CUSTOMERS.slice(0, 5).map((customer) => grantTo(customer)));
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await listNotifiedGrants('bert')).toEqual([]);
  });
  expect((await bert)?.status).toBe(200);
  expect(await listNotifiedGrants('bert')).toHaveLength(1);
});
