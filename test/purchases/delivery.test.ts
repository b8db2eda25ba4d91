// From a transaction to the receiver: an endpoint gets the event types that it wants, the feed has every event, and the
// service reports lapses by itself in the background.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createDatabaseClock } from '../../src/db/clock.ts';
import { startSweeps } from '../../src/sweeps.ts';
import { createProfile } from '../profile/world.ts';
import { addProduct } from '../setup/world.ts';
import { createWorld, type World } from '../webhooks/world.ts';
import { period, setTransaction } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await addProduct(world.service, 'monthly', { access_level_id: 'premium' });
});
afterAll(() => world.close());

test('a webhook gets the events that it asked for, in order; the feed has all', async () => {
  const [all, some] = [await world.receive(), await world.receive()];
  await world.addEndpoint(all.url);
  await world.addEndpoint(some.url, { events: ['subscription_renewed', 'subscription_expired'] });
  world.dispatch();
  await createProfile(world.service, { customer: 'anna' });
  await setTransaction(world.service, 'anna', period());
  const next = { store_transaction_id: 't2', purchased_at: '2025-03-01T00:00:00Z', expires_at: '2025-04-01T00:00:00Z' };
  await setTransaction(world.service, 'anna', period(next));

  const sweeps = startSweeps(world.service.deps, createDatabaseClock(world.service.deps.db));
  const types = [
    'subscription_started',
    'access_level_updated',
    'subscription_renewed',
    'access_level_updated',
    'subscription_expired',
  ];
  await vi.waitFor(() => expect(all.events().map(({ event_type }) => event_type)).toEqual(types), 10_000);
  await vi.waitFor(() =>
    expect(some.events().map(({ event_type }) => event_type)).toEqual(['subscription_renewed', 'subscription_expired']),
  );
  await sweeps.stop();

  const { data } = await world.feed();
  expect(data.map(({ event_type }: { event_type: string }) => event_type).toReversed()).toEqual(types);
  const filtered = await world.feed('?event_type=subscription_expired&customer_user_id=anna');
  expect(filtered.data).toHaveLength(1);
});
