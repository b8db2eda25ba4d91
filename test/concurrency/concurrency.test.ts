// 64 clients at once on a few profiles: none of them sees a failure, some order of the operations explains every
// answer, and the stored state at the end is the outcome of that order.
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyWorld } from '../model/model.ts';
import {
  arbitraryOperations,
  type Client,
  CUSTOMERS,
  createClient,
  type Named,
  type Operation,
  readOutcome,
  send,
} from '../model/operations.ts';
import { startService, type TestService } from '../setup/service.ts';
import { explain, type Performed } from './order.ts';

const CLIENTS = 64;
const EACH = 5;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

async function performOne(client: Client, operation: Operation): Promise<Performed> {
  const startedAt = performance.now();
  const response = await send(client, operation);
  const endedAt = performance.now();
  const outcome = readOutcome(response, client.madeAt);
  return { operation, outcome, startedAt, endedAt, timestamp: response.json?.data?.timestamp ?? 0 };
}

async function performAll(client: Client, operations: readonly Operation[]): Promise<Performed[]> {
  const performed: Performed[] = [];
  for (const operation of operations) performed.push(await performOne(client, operation));
  return performed;
}

/** Reads the campaign of every living profile, by its customer. */
async function readCampaigns({ service: { database }, app }: Client) {
  const { rows } = await sql<{ customer: string; campaign: string }>`
    select p.customer_user_id as customer, d.campaign from profile p
    join profile_attribution using (app_id, profile_id) join dim_attribution d using (attribution_key)
    where p.app_id = ${app.app_id} and p.deleted_at is null`.execute(database.db);
  return rows;
}

/** Whether an attribution with this campaign may have been the customer's last. */
function mayBeLast(performed: readonly Performed[], { customer, campaign }: { customer: string; campaign: string }) {
  const recorded = performed.flatMap(({ operation, outcome, startedAt, endedAt }) =>
    operation.op === 'attribute' && operation.named.customer === customer && outcome.status === 201
      ? [{ campaign: operation.campaign, startedAt, endedAt }]
      : [],
  );
  const others = recorded.filter((one) => one.campaign !== campaign);
  return recorded.some((one) => one.campaign === campaign && others.every(({ startedAt }) => startedAt <= one.endedAt));
}

test.each(['refuse', 'transfer'] as const)(
  'some order of the operations explains every answer in an app with sharing %s',
  async (sharing) => {
    const seed = Date.now();
    const named: fc.Arbitrary<Named> = fc.record({ customer: fc.constantFrom(...CUSTOMERS) });
    const operations = fc.sample(fc.oneof(...arbitraryOperations(named)), { seed, numRuns: CLIENTS * EACH });
    const client = await createClient(service, sharing);
    const made = await performAll(
      client,
      CUSTOMERS.map((customer) => ({ op: 'create', named: { customer }, attributes: {} })),
    );
    const shares = Array.from({ length: CLIENTS }, (_, index) => operations.slice(index * EACH, (index + 1) * EACH));
    const performed = (await Promise.all(shares.map((share) => performAll(client, share)))).flat();
    expect(performed.filter(({ outcome }) => outcome.status >= 500)).toEqual([]);

    const reads = await performAll(
      client,
      CUSTOMERS.map((customer) => ({ op: 'read', named: { customer } })),
    );
    const explained = explain(emptyWorld(sharing), [...made, ...performed, ...reads]);
    expect(explained, `seed ${seed}`).toHaveProperty('world');
    for (const one of await readCampaigns(client))
      expect({ ...one, may: mayBeLast(performed, one) }).toMatchObject({ may: true });
  },
  120_000,
);
